"""Checks: params that nothing takes, collectors, servers that run already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.expand.cells import expand
from stepgrid.language.problems import Problems, SpecError, format_problems
from stepgrid.language.spec_file import read_spec
from stepgrid.model.plan import Plan
from stepgrid.plan.identity import build_id
from tests.expand.samples import Compile, Complaints

LIBRARY = """\
define:
  options:
    below: {engine: rocksdb, options: {bloom_bits: [{when: "params.legacy | default(false)", value: 8}, {value: 10}]}}
    mine: {extends: below, options: {block_size: 8KiB}}
"""
LIBRARY_SPEC = """\
title: t
include: [library.yaml]
builds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
options: [NAMED]
steps: [{name: load, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M, legacy: true}
"""


def bloom_bits(named: str, folder: Path) -> object:
    (folder / "library.yaml").write_text(LIBRARY, encoding="utf-8")
    (folder / "spec.yaml").write_text(LIBRARY_SPEC.replace("NAMED", named), encoding="utf-8")
    problems = Problems()
    document = read_spec(str(folder / "spec.yaml"), None, problems)
    assert document is not None
    (cell,) = expand(document, {}, problems).cells
    problems.stop_on_errors()
    return cell.segments[0].steps[0].options["bloom_bits"].value


@pytest.mark.parametrize("named", ["below", "mine", "{extends: mine, options: {bloom_locality: 1}}"])
def test_a_set_of_an_include_may_take_a_param(named: str, tmp_path: Path) -> None:
    assert bloom_bits(named, tmp_path) == 8


def test_one_that_is_not_named_takes_none(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        bloom_bits("{bloom_bits: 10}", tmp_path)
    assert "spec.yaml:6:20: error[unknown-param]: no step takes the param `legacy`" in format_problems(
        caught.value.problems
    )


# Collectors of a spec: short forms, which steps they look at, identity, and what is wrong with one


COLLECTOR_BASE = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 7.8.3, source: {system: db_bench}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}
  - checkpoint: loaded
  - {name: warm, kind: db_bench, benchmarks: [readrandom], measured: false}
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], for: {threads: [1, 2]}}
params: {keys: 1k, duration: 1s}
"""


def _collectors(plan: Plan) -> dict[str, Any]:
    return {step.name: step.setup.get("collectors") for stage in plan.stages for step in stage.steps}


def test_a_name_alone_looks_at_all_that_is_measured(compile_text: Compile) -> None:
    own = [{"name": "pidstat", "collector": "pidstat"}]
    expected = {"fillseq": own, "warm": None, "readww[threads=1]": own, "readww[threads=2]": own}
    assert _collectors(compile_text(COLLECTOR_BASE + "collectors: pidstat\n")) == expected
    assert _collectors(compile_text(COLLECTOR_BASE + "collectors: [{collector: pidstat}]\n")) == expected


def test_settings_and_steps(compile_text: Compile) -> None:
    listed = """\
collectors:
  - {name: fg, collector: perf_record, frequency: 199, call_graph: dwarf, steps: "readww[threads=1]"}
  - {name: mine, command: [bpftrace, "{pid}"], steps: [readww, warm]}
  - {collector: perf_stat, events: cycles, steps: fillseq}
  - {collector: vmstat, every: 5s, steps: fillseq}
"""
    mine = {"name": "mine", "command": ["bpftrace", "{pid}"]}
    assert _collectors(compile_text(COLLECTOR_BASE + listed)) == {
        "fillseq": [
            {"name": "perf_stat", "collector": "perf_stat", "events": ["cycles"]},
            {"name": "vmstat", "collector": "vmstat", "every": 5.0},
        ],
        "warm": [mine],
        "readww[threads=1]": [
            {"name": "fg", "collector": "perf_record", "frequency": 199, "call_graph": "dwarf"},
            mine,
        ],
        "readww[threads=2]": [mine],
    }


def test_they_are_part_of_what_is_measured(compile_text: Compile) -> None:
    plain, watched = (
        compile_text(COLLECTOR_BASE),
        compile_text(COLLECTOR_BASE + "collectors: [{collector: pidstat, steps: readww}]\n"),
    )
    first, second = ([stage.id for stage in plan.stages] for plan in (plain, watched))
    assert len(set(first) & set(second)) == 1  # the load


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("pidstats", "9:14: error[undefined-name]: there is no collector `pidstats`"),
        (
            "{name: fg, collector: perf_record, every: 1s}",
            "9:49: error[unknown-setting]: `every` is no setting of perf_record (collector `fg`)",
        ),
        (
            "{name: x, command: [x], frequency: 9}",
            "9:38: error[unknown-setting]: `frequency` is no setting of a command (collector `x`)",
        ),
        (
            "{collector: iostat, steps: readw}",
            "9:41: error[undefined-name]: collector `iostat`: there is no step `readw`",
        ),
        (
            "{command: [x]}",
            "9:14: error[collector-form]: a collector needs a name, which a `collector` of some kind brings",
        ),
        ("{name: x}", "9:21: error[collector-form]: collector `x` needs `collector` or `command`, one of them"),
        (
            "{name: x, collector: iostat, command: [x]}",
            "9:21: error[collector-form]: collector `x` needs `collector` or `command`, one of them",
        ),
        ("{name: x, command: []}", "9:21: error[collector-form]: collector `x` needs a program in `command`"),
        (
            "{name: a/b, collector: iostat}",
            "9:21: error[collector-form]: collector `a/b` is called what no folder can be: letters, digits and _ . -",
        ),
        ("iostat, iostat", "9:22: error[defined-twice]: there is a collector `iostat` already"),
        (
            "{collector: perf_record, frequency: 5000}",
            "9:50: error[out-of-range]: `frequency`: expected at most 1000, found `5000`",
        ),
    ],
)
def test_faults_of_collectors(complaints: Complaints, entry: str, said: str) -> None:
    assert said in complaints(f"{COLLECTOR_BASE}collectors: [{entry}]\n")


# Builds that are servers which already run: what a spec says of one, and what it cannot ask of it


SERVER_SPEC = """\
title: t
builds:
  prod: {engine: mysql, version: 8.0.40, source: {server: prod}}
  made: {engine: mysql, version: 8.0.31, source: {system: mysqld}}
steps: [{name: q, kind: sql, sql: ["select 1"]}]
"""


def test_its_identity_is_its_name_and_the_declared_version(compile_text: Compile) -> None:
    (prod,) = [build for build in compile_text(SERVER_SPEC).builds if build.name == "prod"]
    assert prod.id == build_id("mysql", "8.0.40", {"server": "prod"}, "")


@pytest.mark.parametrize(
    ("line", "where", "asked", "why"),
    [
        ("start: cold", "6:1", "start", "what the page cache holds"),
        ("launch: {numa: interleave, memory: 16GiB}", "6:28", "launch.memory", "what memory it may take"),
        ("sweep: {how: {hot: {start: warm}, as_it_is: {params: {x: 1}}}}", "6:15", "start", "what the page cache"),
        ("sweep: {how: {a: {launch: {memory: 1GiB}}, b: {launch: {cpus: 0}}}}", "6:15", "launch.memory", "what memory"),
    ],
)
def test_what_only_who_starts_it_can_give(complaints: Complaints, line: str, where: str, asked: str, why: str) -> None:
    said = complaints(SERVER_SPEC + line + "\nallow: {no-repeats: a test}\n")
    message = f"build `prod` is a server that already runs: `{asked}` cannot be had of it"
    assert f"{where}: error[running-server]: {message}" in said
    assert f"= who does not start it cannot say {why}" in said
    assert said.count("running-server") == 1


def test_an_engine_that_lists_no_pages_cannot_load_them(compile_text: Compile, complaints: Complaints) -> None:
    spec = SERVER_SPEC + "allow: {no-repeats: a test}\nstart: engine-warm\n"
    said = complaints(
        spec + "sweep: {se: {inno: {build: made}, rocks: {build: made, params: {storage_engine: rocksdb}}}}\n"
    )
    assert "7:1: error[no-page-list]: build `made`: mysql with rocksdb keeps no list of the pages in its cache" in said
    assert said.count("no-page-list") == 1
    assert compile_text(spec + "sweep: {build: [made]}\n").stages


def test_a_build_that_is_started_may_ask_for_it(compile_text: Compile) -> None:
    plan = compile_text(SERVER_SPEC + "start: cold\nlaunch: {memory: 16GiB}\nsweep: {build: [made]}\n")
    assert [build.name for build in plan.builds] == ["made"]


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (
            "{engine: rocksdb, version: 9.9.3, source: {server: prod}}",
            "2:56: error[wrong-source]: build `b`: rocksdb is no server that could run already",
        ),
        (
            "{engine: mysql, source: {server: prod}}",
            "2:10: error[missing-key]: build `b` has no version, and its server source names none",
        ),
        (
            "{engine: mysql, version: 8.0.40, source: {server: a/b}}",
            "2:63: error[wrong-source]: `server: a/b` is not a name that a site file could have under `servers`",
        ),
    ],
)
def test_a_source_that_cannot_be(complaints: Complaints, build: str, said: str) -> None:
    spec = f"title: t\nbuilds: {{b: {build}}}\nsteps: [{{name: q, kind: command, argv: [ls]}}]\n"
    assert said in complaints(spec)
