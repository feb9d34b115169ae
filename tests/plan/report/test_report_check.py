"""What a table may say of its base, labels and window; what it may not is in tests/language/bad/tables.py."""

from __future__ import annotations

import pytest

from tests.conftest import Compile
from tests.language.bad import BASE, SWEEP

STEPS = """\
  - {name: settle, kind: command, argv: [sync], measured: false, duration: 1h}
  - {name: own, kind: command, argv: [echo, "3"], duration: null, metrics: {threes: {pattern: "([0-9])"}}}
  - {name: grid, kind: db_bench, benchmarks: [readrandom], for: {threads: [1, 2]}, duration: 5m}
params: {keys: 1k, duration: 10m}
probes: [{name: count_seconds, before: [own], command: [ls]}]
"""
SPEC = BASE.replace("params: {keys: 1k, duration: 1s}\n", STEPS) + SWEEP


@pytest.mark.parametrize(
    "said",
    [
        "window: 5m",
        "window: [5m]",
        "window: [0s, 10m]",
        "window: 90.5s",
        "window: [2m, 5m], where: {step: grid}",
        "window: 5m, where: {step: [grid, own]}",
        "window: 2h, where: {step: own}",  # it does not say how long it lasts
        "base: {build: rocksdb-7.8.3, cache: lru}",
        "base: {threads: 1}, where: {step: grid}",
        "labels: {rocksdb-7.8.3: '7', lru: LRU, hyper: LRU 2, cache: block cache}",
        "labels: {grid: reads, 'grid[threads=1]': alone, readww: reads, step: what is run}",
        "labels: {qps: operations/s, ops_sec: operations/s, threes: '3', count_seconds: counting}",
        "metrics: [qps, threes, count_seconds]",
    ],
)
def test_what_a_table_may_say(said: str, compile_text: Compile) -> None:
    plan = compile_text(f"{SPEC}report: {{tables: [{{title: a, rows: step, {said}}}]}}\n")
    assert [*plan.report.tables[0]][:2] == ["title", "rows"]


def test_a_claim_over_the_figure_of_a_command(compile_text: Compile) -> None:
    plan = compile_text(f"{SPEC}claims: [{{claim: c, expect: threes() == 3, where: {{step: own}}}}]\n")
    assert plan.report.claims[0]["expect"] == "threes() == 3"


def test_a_window_is_in_the_plan_as_it_is_said(compile_text: Compile) -> None:
    plan = compile_text(f"{SPEC}report: {{tables: [{{title: a, rows: step, window: 300s}}]}}\n")
    assert plan.report.tables[0]["window"] == ["300s"]
