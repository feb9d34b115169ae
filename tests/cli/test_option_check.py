"""Options that the builds which are there would not take: `check`, `plan` and the start of `run` say so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.model.records import OptionInfo
from stepgrid.package import SPECS
from stepgrid.plan.assembly import scales
from stepgrid.plugins.engine import option_fault
from stepgrid.plugins.registry import engine
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan, run_request
from tests.cli.samples import SPEC
from tests.cli.test_plan import Capture, kept, measured

pytestmark = pytest.mark.usefixtures("folder")
KNOWN = {
    "write_buffer_size": "int64",
    "compression_type": "string",
    "bloom_bits": "double",
    "threshold": "uint64",
    "cache_size": "int64",
}
NEWER = {**KNOWN, "cache_type": "string"}
TWO = {"rocksdb-7.8.3": KNOWN, "rocksdb-9.10.0": NEWER}


@pytest.fixture(autouse=True)
def compiled_anew() -> Iterator[None]:
    run_request.requested_plan.cache_clear()
    yield
    run_request.requested_plan.cache_clear()


def made(known: Mapping[str, Mapping[str, str]], spec: str = "a.yaml") -> None:
    """Builds with what each knows; of the others there is nothing."""
    for build in host_plan.compile_for_host(spec, None).builds:
        if build.name in known:
            folder = Store().build(build.id)
            folder.mkdir(parents=True)
            (folder / "build.json").write_text(json.dumps({"id": build.id, "engine": build.engine, "programs": {}}))
            described = {name: {"type": kind, "default": "", "help": ""} for name, kind in known[build.name].items()}
            (folder / "catalogue.json").write_text(json.dumps(described))


def asks(folder: Path, options: str, more: str = "") -> None:
    (folder / "a.yaml").write_text(f"{SPEC}options: [{{{options}}}]\n{more}")


def complaints(capsys: Capture, *command: str) -> list[str]:
    assert main([*(command or ("check",)), "a.yaml"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return [line for line in captured.err.splitlines() if "error[" in line or line.startswith("   = ")]


@pytest.mark.parametrize("command", ["check", "plan", "run"])
def test_a_misspelt_name_and_impossible_values_are_all_said(folder: Path, capsys: Capture, command: str) -> None:
    asks(folder, "write_bufer_size: 1, compression_type: zstdd, cache_size: -4MiB, bloom_bits: .nan, threshold: -1")
    made(TWO)
    assert complaints(capsys, command) == [
        "a.yaml:10:12: error[unknown-option]: rocksdb-7.8.3 and rocksdb-9.10.0 have no option `write_bufer_size`",
        "   = did you mean `write_buffer_size`?",
        "a.yaml:10:33: error[wrong-option]: `compression_type` takes one of none, snappy, zlib, bzip2, lz4, lz4hc, "
        "xpress, zstd, not `zstdd`",
        "   = did you mean zstd?",
        "a.yaml:10:58: error[wrong-option]: `cache_size` takes a number (int64), not `-4MiB`",
        "   = a size has no sign",
        "a.yaml:10:77: error[wrong-option]: `bloom_bits` takes a number (double), not `.nan`",
        "a.yaml:10:95: error[wrong-option]: `threshold` takes 0 to 18446744073709551615 (uint64), not `-1`",
    ]


PROBABLE = [
    "a.yaml:10:12: warning[unknown-option]: no known release of rocksdb has an option `compresion_type`",
    "   = did you mean `compression_type`?",
    "a.yaml:10:35: warning[unknown-option]: no known release of rocksdb has an option `cache_sizes`",
    "   = did you mean `cache_size`?",
    "a.yaml:10:51: error[wrong-option]: `block_size` takes a number (int32), not `64KB`",
    "   = did you mean `64KiB`? sizes are written in KiB, MiB or GiB",
    "a.yaml:10:69: error[wrong-option]: `write_buffer_size` takes a number (int64), not `256MB`",
    "   = did you mean `256MiB`? sizes are written in KiB, MiB or GiB",
    "a.yaml:10:95: warning[unknown-option]: no known release of rocksdb has an option `of_a_patch`",
    "   = `stepgrid builds a.yaml --make` asks the build itself",
]
SLIPS = "compresion_type: zstd, cache_sizes: 1, block_size: 64KB, write_buffer_size: 256MB, of_a_patch: 1"


def test_before_the_builds_are_made_names_are_warned_of_and_values_refused(folder: Path, capsys: Capture) -> None:
    asks(folder, SLIPS)
    assert main(["check", "a.yaml"]) == 1
    captured = capsys.readouterr()
    assert [
        line for line in captured.err.splitlines() if "option]" in line or "did you" in line or "asks" in line
    ] == PROBABLE
    asks(folder, "compresion_type: zstd, of_a_patch: 1")
    assert main(["check", "a.yaml"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1:] == [
        "options of 2 builds are unchecked until they are made: `stepgrid builds a.yaml --make`; "
        "this fetches debian rocksdb-tools"
    ]


def test_an_option_of_another_engine_is_refused_and_its_engine_named(folder: Path, capsys: Capture) -> None:
    asks(folder, "shared_buffers: 64MB, innodb_flush_method: fsync")
    refused = [
        "a.yaml:10:12: error[unknown-option]: rocksdb-7.8.3 and rocksdb-9.10.0 have no option `shared_buffers`",
        "   = it is an option of postgres",
        "a.yaml:10:34: error[unknown-option]: rocksdb-7.8.3 and rocksdb-9.10.0 have no option `innodb_flush_method`",
        "   = it is an option of mariadb and mysql",
    ]
    assert complaints(capsys) == refused
    made(TWO)
    assert complaints(capsys) == refused


def test_an_option_that_the_flags_of_a_build_leave_out(folder: Path, capsys: Capture) -> None:
    """As a build of hours would say at its end."""
    git = 'source: {git: "https://github.com/mysql/mysql-server.git", ref: mysql-8.0.44}'
    spec = f"title: t\nbuilds:\n  my: {{engine: mysql, version: 8.0.44, {git}, flags: {{WITH_NUMA: OFF}}}}\n"
    spec += "steps: [{name: one, kind: sql, sql: select 1}]\noptions: [{innodb_numa_interleave: ON}]\n"
    (folder / "a.yaml").write_text(spec)
    assert complaints(capsys) == [
        "a.yaml:5:12: error[unknown-option]: my has no option `innodb_numa_interleave`",
        "   = its flags say `WITH_NUMA: OFF`, which leaves it out: leave one of the two out",
    ]
    for harmless in (("WITH_NUMA: OFF", "WITH_NUMA: ON"), ("_interleave: ON", "_interleave: unset")):
        (folder / "a.yaml").write_text(spec.replace(*harmless))
        assert main(["check", "a.yaml"]) == 0


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(("9.10.0", "99.1"), id="a later release than all that are known"),
        pytest.param(("{debian: rocksdb-tools, suite: sid}", "{git: x, ref: v1.2.3}"), id="a fork"),
        pytest.param(("engine: rocksdb", "engine: rocksdb, patches: [a.patch]"), id="a patch"),
    ],
)
def test_what_may_have_options_of_its_own_is_warned_of_near_names_alone(
    folder: Path, capsys: Capture, changed: tuple[str, str]
) -> None:
    (folder / "a.patch").touch()
    asks(folder, "of_a_patch: 1, cache_sizes: 2")
    text = (folder / "a.yaml").read_text().replace("7.8.3, ", "")
    assert changed[0] in text
    (folder / "a.yaml").write_text(text.replace(*changed))
    main(["check", "a.yaml"])
    assert [line.partition("`")[2] for line in capsys.readouterr().err.splitlines() if "option]" in line] == [
        "cache_sizes`"
    ]


def test_slips_come_beside_other_faults(folder: Path, capsys: Capture) -> None:
    asks(folder, SLIPS, "seed: many\n")
    assert main(["check", "a.yaml"]) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if "option]" in line or "error[" in line]
    assert lines == [*PROBABLE[::2], "a.yaml:11:7: error[wrong-type]: `seed`: expected a whole number, found `many`"]


def test_a_build_that_is_made_says_it_beside_other_faults(folder: Path, capsys: Capture) -> None:
    asks(folder, "cache_siz: 1")
    made(TWO)
    asks(folder, "cache_siz: 1", "seed: many\n")
    assert [line.partition(": ")[2] for line in complaints(capsys)] == [
        "error[unknown-option]: rocksdb-7.8.3 and rocksdb-9.10.0 have no option `cache_siz`",
        "",
        "error[wrong-type]: `seed`: expected a whole number, found `many`",
    ]


def test_a_build_of_the_store_tells_of_options_of_one_that_is_not_made(folder: Path, capsys: Capture) -> None:
    asks(folder, "of_a_patch: 1")
    made({"rocksdb-7.8.3": {"of_a_patch": "bool"}})
    asks(folder, "of_a_patch: 3")
    text = (folder / "a.yaml").read_text()
    (folder / "a.yaml").write_text(text.replace("7.8.3, ", "").replace("of_a_patch", "of_a_pach"))
    assert main(["check", "a.yaml"]) == 0
    assert "no known release of rocksdb has an option `of_a_pach`\n" in capsys.readouterr().err


def test_each_engine_tells_the_unit_that_was_meant() -> None:
    number = OptionInfo(type="number")
    assert (option_fault(engine("postgres"), number, "64KB") or "").endswith("; did you mean `64kB`?")
    assert option_fault(engine("postgres"), number, "64MB") is None
    assert (option_fault(engine("mysql"), number, "64MB") or "").endswith("; did you mean `64MiB`?")
    assert option_fault(engine("mysql"), number, "64M") is None


def test_nothing_is_probable_in_what_is_shipped(capsys: Capture) -> None:
    for spec in sorted([*SPECS.glob("*[!k].yaml"), *SPECS.glob("posts/*.yaml")]):  # no lock file
        main(["check", str(spec), *(["--scale", "smoke"] if "smoke" in scales(str(spec)) else [])])
        assert "option]" not in capsys.readouterr().err, spec


def test_what_only_some_builds_have(folder: Path, capsys: Capture) -> None:
    asks(folder, "cache_type: lru_cache")
    made(TWO)
    assert complaints(capsys) == [
        "a.yaml:10:12: error[unknown-option]: rocksdb-7.8.3 has no option `cache_type`",
        "   = rocksdb-9.10.0 has it: say `when_unsupported: drop`, or put it on a point of an axis",
    ]
    asks(folder, "cache_type: {value: lru_cache, when_unsupported: drop}")
    assert main(["check", "a.yaml"]) == 0


def test_a_point_that_only_some_builds_have_is_unsupported(folder: Path, capsys: Capture) -> None:
    points = SPEC.replace("from: loaded}}", "from: loaded}, cache: {from: loaded, points: {%s}}}")
    (folder / "a.yaml").write_text(points % "a: {options: {cache_size: 1}}, b: {options: {cache_type: lru_cache}}")
    made(TWO)
    assert main(["check", "a.yaml"]) == 0
    capsys.readouterr()
    (folder / "a.yaml").write_text(points % "a: {options: {cache_size: 1}}, b: {options: {cache_typ: lru_cache}}")
    assert [line.partition("error")[2] for line in complaints(capsys)] == [
        "[unknown-option]: rocksdb-7.8.3 and rocksdb-9.10.0 have no option `cache_typ`",
        "",
    ]


def test_a_point_is_left_open_while_a_build_is_still_to_be_made(folder: Path) -> None:
    points = SPEC.replace("from: loaded}}", "from: loaded}, cache: {from: loaded, points: {%s}}}")
    (folder / "a.yaml").write_text(points % "a: {options: {cache_size: 1}}, b: {options: {cache_typ: lru_cache}}")
    made({"rocksdb-7.8.3": KNOWN})
    assert main(["check", "a.yaml"]) == 0


def test_an_option_of_another_engine(folder: Path, capsys: Capture) -> None:
    maria = "  maria: {engine: mariadb, version: 11.8.1, source: {debian: mariadb-server, suite: trixie}}\n"
    rocks = "  rocksdb: {engine: rocksdb, version: 9.10.0, source: {debian: rocksdb-tools, suite: trixie}}\n"
    steps = "steps: [{name: fill, kind: db_bench, benchmarks: [fillseq], fresh: true, when: \"engine == 'rocksdb'\"},\n"
    steps += '  {name: one, kind: sql, sql: "select 1", when: "engine == \'mariadb\'"}]\n'
    spec = f"title: t\nbuilds:\n{rocks}{maria}{steps}params: {{keys: 1M, duration: 1m}}\n"
    spec += "allow: {no-repeats: a test}\n"
    (folder / "a.yaml").write_text(spec + "options: [{innodb_io_capacity: 400}]\n")
    made({"rocksdb": KNOWN, "maria": {"innodb_io_capacity": "number"}})
    assert complaints(capsys) == [
        "a.yaml:9:12: error[unknown-option]: rocksdb has no option `innodb_io_capacity`",
        "   = it is an option of mariadb: write `{engine: mariadb, options: {innodb_io_capacity: …}}`",
    ]


def test_what_is_measured_was_taken(folder: Path) -> None:
    asks(folder, "write_bufer_size: 1")
    made(TWO)
    plan = kept()
    measured(plan, plan.stages)
    assert main(["check", "a.yaml"]) == 0


def test_a_scale_is_named(folder: Path, capsys: Capture) -> None:
    asks(folder, "cache_size: 1", "scales: {small: {options: [{cache_siz: 1}]}}\n")
    made(TWO)
    assert complaints(capsys) == [
        "a.yaml:11:29: error[unknown-option]: scale `small`: rocksdb-7.8.3 and rocksdb-9.10.0 have no option "
        "`cache_siz`",
        "   = did you mean `cache_size`?",
    ]


def test_a_dry_run_too(folder: Path, capsys: Capture) -> None:
    asks(folder, "cache_siz: 1")
    made(TWO)
    assert main(["run", "a.yaml", "-n"]) == 1
    assert "error[unknown-option]" in capsys.readouterr().err


def test_a_program_that_the_build_lacks(folder: Path, capsys: Capture) -> None:
    source = "source: {debian: fio, suite: trixie}, flags: {programs: usr/bin/fio}"
    bench = f'title: t\nbuilds: {{mine: {{engine: program, version: "1.0", {source}}}}}\nsteps:\n'
    step = '  - {name: %s, kind: command, duration: 10m, argv: ["{program:bnch.py}"]}\n'
    (folder / "a.yaml").write_text(bench + step % "put" + step % "get")
    (build,) = host_plan.compile_for_host("a.yaml", None).builds
    made({"mine": {}})
    (Store().build(build.id) / "build.json").write_text(json.dumps({"programs": {"bench.py": ["bench.py"]}}))
    assert complaints(capsys) == [
        "a.yaml:4:53: error[unknown-program]: step `put`: mine has no program `bnch.py`",
        "   = did you mean `bench.py`?",
        "a.yaml:5:53: error[unknown-program]: step `get`: mine has no program `bnch.py`",
        "   = did you mean `bench.py`?",
    ]


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("{debian: fio, suite: trixie}, flags: {programs: usr/bin/fio}", "fio"),
        ("{system: /opt/bin/run.sh}", "run.sh"),
        ('{path: .}, flags: {programs: "old.py new.py"}', "new.py, old.py"),
    ],
)
def test_a_program_that_a_build_does_not_declare_before_it_is_made(
    folder: Path, capsys: Capture, source: str, known: str
) -> None:
    (folder / "a.yaml").write_text(
        f'title: t\nbuilds: {{mine: {{engine: program, version: "1.0", source: {source}}}}}\nsteps:\n'
        '  - {name: put, kind: command, duration: 10m, argv: ["{program:zzz}"]}\n'
    )
    assert complaints(capsys) == [
        "a.yaml:4:53: error[unknown-program]: step `put`: mine has no program `zzz`",
        f"   = known here: {known}",
    ]


def test_a_program_of_a_service_that_the_build_lacks(folder: Path, capsys: Capture) -> None:
    source = "source: {debian: fio, suite: trixie}, flags: {programs: usr/bin/fio}"
    service = (
        'service: {argv: ["{program:srv}"], ready: {command: ["{program:cli}"]}, stop: {command: ["{program:end}"]}}'
    )
    bench = f'title: t\nbuilds: {{mine: {{engine: program, version: "1.0", {source}, {service}}}}}\nsteps:\n'
    (folder / "a.yaml").write_text(bench + "  - {name: put, kind: command, argv: [a]}\n")
    (build,) = host_plan.compile_for_host("a.yaml", None).builds
    made({"mine": {}})
    (Store().build(build.id) / "build.json").write_text(json.dumps({"programs": {"server": [], "cli": []}}))
    assert complaints(capsys) == [
        "a.yaml:2:10: error[unknown-program]: mine has no program `srv` for its service",
        "   = did you mean `server`?",
        "a.yaml:2:10: error[unknown-program]: mine has no program `end` for its service",
        "   = known here: cli, server",
    ]
