"""What `--fail-on` refuses: a database that stands still is slower, and what has no verdict is undecided."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.records import replace
from stepgrid.summarize import gate
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.test_summary_text import complete

BASE, NEAR = [1000.0, 1001.0, 999.0], [1050.0, 1051.0, 1049.0]
SECONDS = [[level + second % 7 for second in range(60)] for level in (1000.0, 1050.0)]
WIDE = gate.Gate(effects={gate.ALL_STEPS: 0.1})


def judged(root: Path, rates: Sequence[Any], base: Sequence[Any] = BASE) -> Report:
    return scenario.report(complete(root, {"lru": base, "hyper": rates}))


def test_an_arm_that_stands_still_is_slower(tmp_path: Path) -> None:
    cases = gate.gate_cases(judged(tmp_path, [0.0, 0.0, 0.0]), gate.NO_GATE)
    expected = frozenset({"slower", "different"}), "3 of 3 loads did nothing (0 QPS), slower"
    assert {(case.results, case.text) for case in cases} == {expected}


def test_one_load_is_undecided_whatever_the_effect(tmp_path: Path) -> None:
    base, rates = SECONDS
    cases = gate.gate_cases(judged(tmp_path, [rates], [base]), WIDE)
    assert {(case.results, case.text.rpartition(", ")[2]) for case in cases} == {
        (frozenset({"undecided"}), "indicative")
    }


@pytest.mark.parametrize("fields", [{"verdict": "undecided (host busy)"}, {"verdict": None, "refusal": "other hosts"}])
def test_a_larger_smallest_effect_decides_nothing_without_a_verdict(tmp_path: Path, fields: dict[str, str]) -> None:
    report = judged(tmp_path, NEAR)
    (comparison,) = report.comparisons.leading
    rows = tuple(
        replace(row, entries=(row.entries[0], *(replace(entry, **fields) for entry in row.entries[1:])))
        for row in comparison.rows
    )
    altered = scenario.altered(report, all=(replace(comparison, rows=rows),))
    assert {case.results for case in gate.gate_cases(altered, WIDE)} == {frozenset({"undecided"})}
