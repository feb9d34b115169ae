"""With `params: {legacy: true}` each step has the flags that the published scripts come to, slips included.

tests/golden/specs/legacy_flags has what these pass, by the last one where a flag stands twice. Not there: paths, the
seed, the list of flags that may be unknown, and a write rate of 0, which is db_bench's own default.
"""

from pathlib import Path

import pytest

from stepgrid.plan.assembly import compile_spec
from stepgrid.plugins.driver import Context
from stepgrid.plugins.registry import require_runner
from tests.cases import rows

LIBRARY = Path(__file__).resolve().parents[2] / "specs" / "library"
HOST = {"cpu": "a", "cores": 48, "memory": 2**37, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}
ALL = "fillseq, revrange, drain, readrandom, fwdrange, multireadrandom, overwritesome, flush, settle, revrangeww, fwdrangeww, readww"  # fmt: skip  # noqa: E501
OURS = {"db", "seed", "report_file"}
CASES = rows(__file__, "cases")


def planned(folder, sets, keys, version, legacy=True):
    included = [str(LIBRARY / f"{name}.yaml") for name in ("hardware", "rocksdb", "db_bench")]
    lines = [
        "title: a",
        f"include: {included}",
        f"builds: {{a: {{extends: rocksdb, version: {version}}}}}",
        f"options: [{sets}]",
        "workload: db_bench.sequence",
        f"steps: [{ALL}, {{use: overwriteandwait, as: overwrite}}]",
        f"params: {{keys: {keys}, threads: 40, duration: 30m, write_rate: 2MiB, legacy: {str(legacy).lower()}}}",
    ]
    (folder / "a.yaml").write_text("\n".join(lines), encoding="utf-8")
    return compile_spec(str(folder / "a.yaml"), None, HOST)


def given(step, version):
    """What the step's command line gives, booleans as 0 and 1."""
    options = {name: option.value for name, option in step.options.items()}
    context = Context({"db_bench": ("db_bench",)}, version, Path("data"), Path("step"), 1)
    argv = require_runner(step.kind).command(step.settings, options, context).argv[1:]
    pairs = (word.removeprefix("--").split("=", 1) for word in argv)
    spoken = {"true": "1", "false": "0"}
    return {name: spoken.get(value, value) for name, value in pairs if name not in OURS}


def flag_text(flags_by_step):
    """List the flags that all steps share, and those of each step."""
    shared = set.intersection(*(set(flags.items()) for flags in flags_by_step.values()))
    parts = {"all steps": shared} | {step: flags.items() - shared for step, flags in flags_by_step.items()}
    lines = [f"{name}\n" + "".join(f"  {flag} {value}\n" for flag, value in sorted(parts[name])) for name in parts]
    return "\n".join(lines)


@pytest.mark.parametrize("case", CASES)
def test_every_flag_of_every_step(tmp_path, case, golden):
    style, data, keys, version = CASES[case]
    plan = planned(tmp_path, f"{style}, scripts, c48r128, {data}", keys, version)
    golden(flag_text({step.name: given(step, version) for stage in plan.stages for step in stage.steps}))


SEQUENCE = {"revrange", "drain", "settle"}  # ours looks until there is no debt
RATE = ("multireadrandom", "benchmark_write_rate_limit")  # which no writer of it obeys
STEPS = {
    *("fillseq", "readrandom", "fwdrange", "multireadrandom", "overwritesome", "flush"),
    *("revrangeww", "fwdrangeww", "readww", "overwrite"),
}
BLOCKS = {(step, flag) for step in STEPS for flag in ("block_size", "universal_allow_trivial_move")}


@pytest.mark.parametrize(
    ("sets", "version", "differing"),
    [
        ("leveled, scripts, c48r128, byrx", "9.9.3", {RATE}),
        ("leveled, scripts, c48r128, byrx", "8.5.4", {RATE}),
        ("leveled, scripts, c48r128, iodir", "9.9.3", {RATE}),
        ("universal, scripts, c48r128, byrx", "9.9.3", {RATE, *BLOCKS}),
        ("universal, scripts, c48r128, byrx", "8.7.3", {RATE, *BLOCKS, ("flush", "benchmarks")}),
        (
            "universal, scripts, c48r128, byrx",
            "8.6.7",
            {RATE, *BLOCKS, ("flush", "benchmarks"), ("overwrite", "benchmarks")},
        ),
        ("universal, scripts, c48r128, byrx", "8.5.4", {RATE, *BLOCKS}),
        ("blob, scripts, c48r128, byrx", "9.9.3", {RATE}),
        ("blob, scripts, c48r128, byrx", "8.5.4", {RATE, ("overwrite", "benchmarks")}),
    ],
)
def test_where_ours_differs(tmp_path, sets, version, differing):
    """Every difference, as docs/reference/db_bench.md lists them."""
    found = []
    for legacy in (True, False):
        stages = planned(tmp_path, sets, "100M", version, legacy).stages
        steps = {step.name: step for stage in stages for step in stage.steps if step.name not in SEQUENCE}
        found.append({name: given(step, version) for name, step in steps.items()})
    theirs, ours = found
    assert ours.keys() == theirs.keys() == STEPS
    pairs = {(step, flag) for both in found for step, given_flags in both.items() for flag in given_flags}
    assert {(step, flag) for step, flag in pairs if theirs[step].get(flag) != ours[step].get(flag)} == differing
    block, moves = (ours["fillseq"].get(flag) for flag in ("block_size", "universal_allow_trivial_move"))
    assert (block, moves) == (("16384", "0") if differing >= BLOCKS else ("8192", None))
