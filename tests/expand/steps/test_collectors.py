"""Collectors of a spec: short forms, which steps they look at, identity, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.model.plan import Plan

Compile = Callable[..., Plan]
Complaints = Callable[..., str]

BASE = """\
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
    assert _collectors(compile_text(BASE + "collectors: pidstat\n")) == expected
    assert _collectors(compile_text(BASE + "collectors: [{collector: pidstat}]\n")) == expected


def test_settings_and_steps(compile_text: Compile) -> None:
    listed = """\
collectors:
  - {name: fg, collector: perf_record, frequency: 199, call_graph: dwarf, steps: "readww[threads=1]"}
  - {name: mine, command: [bpftrace, "{pid}"], steps: [readww, warm]}
  - {collector: perf_stat, events: cycles, steps: fillseq}
  - {collector: vmstat, every: 5s, steps: fillseq}
"""
    mine = {"name": "mine", "command": ["bpftrace", "{pid}"]}
    assert _collectors(compile_text(BASE + listed)) == {
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
    plain, watched = compile_text(BASE), compile_text(BASE + "collectors: [{collector: pidstat, steps: readww}]\n")
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
def test_what_is_wrong_with_one(complaints: Complaints, entry: str, said: str) -> None:
    assert said in complaints(f"{BASE}collectors: [{entry}]\n")
