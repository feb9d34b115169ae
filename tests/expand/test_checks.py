"""Checks: params that nothing takes, collectors, servers that run already."""

from pathlib import Path
from typing import Any

import pytest

from stepgrid.expand.cells import expand
from stepgrid.language.problems import Problems
from stepgrid.language.spec_file import read_spec
from stepgrid.model.plan import Plan
from tests.expand.samples import Compile

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
    return {step.name: [*step.setup.collectors] or None for stage in plan.stages for step in stage.steps}


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


# Builds that are servers which already run: what a spec says of one, and what it cannot ask of it
