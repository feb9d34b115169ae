"""Ids that must stay, for results are kept under them; each kind of edit of a spec, and the stages that it changes."""

import hashlib
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepgrid.model.plan import encode
from stepgrid.plan.assembly import compile_spec
from stepgrid.plan.identity import build_id
from tests.conftest import HOST
from tests.plan.test_difference import chain

ROOT = Path(__file__).resolve().parents[2]
WHOLE = """\
title: everything that reaches an id
builds:
  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: trixie}, options: {a: ä}}
  other: {engine: rocksdb, version: 8.5.4, source: {system: db_bench}, params: {keys: 2k}}
hardware: {cores: 4, memory: 16GiB}
options:
  - base
  - {block_size: 8KiB, ratio: 0.5, name: "007", direct: true, kept: {value: 1, when_unsupported: drop}}
  - {wal: "{{ options.block_size * params.threads }}", bits: [{when: "options.direct and threads > 1", value: 5}]}
define:
  options: {base: {engine: rocksdb, options: {bits: [{when: "version < '9'", value: 10}, {value: 12}], level: unset}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq, stats], fresh: true, duration: null, options: {sync: false}}
  - checkpoint: loaded
  - {name: again, kind: db_bench, benchmarks: [fillseq], when: "build == 'other'"}
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting, {when: "threads > 1", value: stats}]}
  - checkpoint: aged
  - {name: overwrite, kind: db_bench, benchmarks: [overwrite], writes: "{{ params.keys // params.threads }}"}
params: {keys: 1k, duration: 1s, threads: 1}
sweep:
  fanout: {option: max_bytes_for_level_multiplier, values: [8, 32]}
  cache: {from: loaded, points: {lru: {options: {c: lru}}, hyper: {options: {c: hyper}, when: "version > '8'"}}}
  threads: {param: threads, values: [1, 2]}
  rate: {steps: [overwrite], points: {slow: {params: {write_rate: 1MiB}}, fast: {params: {write_rate: 2MiB}}}}
exclude: ["cache == 'lru' and fanout == 32"]
also: [{build: other, cache: lru, fanout: 32, threads: 2}]
repeat: {loads: 2, runs: 2}
seed: 7
"""


def ids(plan):
    """How many stages, a digest of their ids, and one of the cells' ids."""
    lists = sorted(stage.id for stage in plan.stages), sorted(cell.id for cell in plan.cells)
    stages, cells = (hashlib.sha256("\n".join(nodes).encode()).hexdigest()[:16] for nodes in lists)
    return len(plan.stages), stages, cells


def test_the_quickstart(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert ids(compile_spec("specs/quickstart.yaml", None, HOST)) == (50, "5921d318f7a24808", "7d274dbf40b37095")


def test_a_spec_of_everything(compile_text):
    plan = compile_text(WHOLE)
    assert ids(plan) == (196, "197701d6cdcad1a6", "f55c6883d9c054ef")
    assert min(stage.id for stage in plan.stages) == "s-01dec2efc244673049a4"


# Edits


SPEC = """\
title: t
builds:
  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}
options: [{bloom_bits: 10}]
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}
  - {name: overwrite, kind: db_bench, benchmarks: [overwrite]}
params: {keys: 1k, duration: 1s}
sweep:
  cache:
    from: loaded
    points:
      lru: {options: {cache_type: lru_cache}}
      hyper: {options: {cache_type: hyper_clock_cache}}
  threads: {param: threads, values: [1, 2], from: loaded}
repeat: 2
"""


def changed(before, after):
    """What is new and what is gone, as counts of `load` (root stages) and `measured`."""

    def count(stages, plan):
        return Counter("measured" if s.parent else "load" for s in plan.stages if s.id in stages)

    old, new = ({stage.id for stage in plan.stages} for plan in (before, after))
    return count(new - old, after), count(old - new, before)


def test_the_order_of_axes_is_no_identity(compile_text):
    head, sweep = SPEC.split("sweep:\n")
    cache, threads = sweep[: sweep.index("  threads")], "  threads: {param: threads, values: [1, 2], from: loaded}\n"
    swapped = f"{head}sweep:\n{threads}{cache}repeat: 2\n"
    before, after = compile_text(SPEC), compile_text(swapped)
    assert changed(before, after) == ({}, {})
    assert {cell.id for cell in before.cells} == {cell.id for cell in after.cells}


def test_a_plan_is_the_same_to_the_byte(compile_text):
    assert encode(compile_text(SPEC)) == encode(compile_text(SPEC))


def test_the_same_seeds_in_every_arm_and_never_twice_in_a_run(compile_text):
    plan = compile_text(SPEC)
    stages = {stage.id: stage for stage in plan.stages}
    for load in (0, 1):
        runs = [[stages[s] for s in cell.repeats[load].stages] for cell in plan.cells]
        seeds = [[step.seed for stage in run for step in stage.steps] for run in runs]
        assert all(one == seeds[0] for one in seeds)
        assert len(set(seeds[0])) == 3
    assert len({step.seed for stage in plan.stages for step in stage.steps}) == 6


LOADED = "{checkpoint: loaded, expects: params.keys > 3}"


def test_a_run_forks_at_the_checkpoint(compile_text):
    plan = compile_text(SPEC.replace("repeat: 2", "repeat: {loads: 2, runs: 2}").replace("checkpoint: loaded", LOADED))
    cell = plan.cells[0]
    assert [(r.load, r.run) for r in cell.repeats] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert cell.repeats[0].stages[0] == cell.repeats[1].stages[0] != cell.repeats[2].stages[0]
    assert len({r.stages[1] for r in cell.repeats}) == 4
    assert [step.checkpoint_expects for step in cell.steps] == [("params.keys > 3",), (), ()]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.permutations(["options", "params", "sweep", "repeat", "steps", "builds", "title"]))
def test_the_order_of_keys_is_no_identity(compile_text, keys):
    blocks = {}
    for line in SPEC.splitlines(keepends=True):
        if not line.startswith(" "):
            key = line.split(":")[0]
        blocks[key] = blocks.get(key, "") + line
    assert changed(compile_text(SPEC), compile_text("".join(blocks[key] for key in keys))) == ({}, {})


GATE = """\
title: t
builds: {main: {engine: program, version: COMMIT, source: {git: ., ref: "{{ version }}"}, flags: {programs: a}}}
steps: [{name: s, kind: command, argv: ["{program:a}"], metrics: {qps: {pattern: "([0-9]+)"}}}]
"""


def test_a_commit_is_one_build_wherever_its_repository_lies_and_a_branch_is_not(tmp_path):
    builds = []
    for commit, folder in (("a" * 40, "one"), ("a" * 40, "two"), ("main", "one"), ("main", "two")):
        spec = tmp_path / folder / "gate.yaml"
        (spec.parent / ".git").mkdir(parents=True, exist_ok=True)
        spec.write_text(GATE.replace("COMMIT", commit))
        builds.append(compile_spec(str(spec), None, HOST).builds[0])
        assert builds[-1].source["git"] == f"file://{tmp_path}/{folder}"
    assert builds[0].id == builds[1].id
    assert len({build.id for build in builds}) == 3


def test_the_content_of_a_tree_is_its_identity_and_not_its_place_or_the_choice_of_its_files():
    trees = ({"path": "a", "files": ["x"]}, {"path": "b", "files": ["x", "y"]}, {"path": "a"})
    assert len({build_id("program", "1", tree, "content") for tree in trees}) == 1
    assert build_id("program", "1", trees[0], "other") != build_id("program", "1", trees[0], "content")


DB_BENCH = """\
title: t
builds: {b: {engine: rocksdb, version: 9.10.0, source: {system: no-db-bench}}}
steps:
  - {name: fill, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null, threads: 1, options: [%s]}
  - {checkpoint: loaded}
  - {name: get, kind: db_bench, benchmarks: [%s], duration: null, options: [%s]}
params: {keys: 1M}
"""


def stages(compile_text, text):
    return [link.stage.id for link in chain(compile_text(text))]


def test_a_file_of_options_is_meant_from_the_yaml_that_names_it(compile_text, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "o.yaml").write_text("define: {options: {big: {options: {options_file: in.cnf}}}}\n")
    (tmp_path / "sub" / "in.cnf").write_text("1")
    text = f"include: [sub/o.yaml]\n{DB_BENCH % ('big', 'readseq', '')}"
    before = stages(compile_text, text)
    (tmp_path / "in.cnf").write_text("2")
    assert stages(compile_text, text) == before
    (tmp_path / "sub" / "in.cnf").write_text("2")
    assert {*stages(compile_text, text)}.isdisjoint(before)


def test_a_trace_is_an_input_unless_a_step_of_the_spec_writes_it(compile_text, tmp_path):
    trace = tmp_path / "a.trace"
    option = f"{{trace_file: {trace}}}"
    before = stages(compile_text, DB_BENCH % (option, "replay", option))
    trace.write_bytes(b"1")
    assert stages(compile_text, DB_BENCH % (option, "replay", option)) == before
    another = DB_BENCH % ("", "replay", option)
    load, get = stages(compile_text, another)
    trace.write_bytes(b"2")
    assert stages(compile_text, another)[0] == load
    assert stages(compile_text, another)[1] != get
