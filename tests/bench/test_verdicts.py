"""The bench of the verdicts, in small: its made-up experiments are what they say, and judged as reports are."""

from __future__ import annotations

import math
from statistics import stdev

import pytest

from bench import verdicts, verdicts_made


def test_every_second_table_has_four_comparisons() -> None:
    tables = verdicts.judged(verdicts_made.Kind(0.01, 3), 12)
    assert [len(table) for table in tables] == [1, 4, 1, 4, 1, 1]
    assert all(entry.verdict and entry.interval for table in tables for entry in table)


def test_the_figures_are_as_noisy_as_they_say() -> None:
    kind = verdicts_made.Kind(0.1, 1)
    made = verdicts_made.experiments(kind, 400, 1)
    logs = [math.log(run.metrics["qps"]) for each in made for run in each.tables.runs if run.build == "base"]
    assert stdev(logs) == pytest.approx(0.1, rel=0.15)


def test_a_difference_is_one_to_the_base() -> None:
    kind = verdicts_made.Kind(0.00001, 2, shift=0.1)
    ratios = [[round(entry.ratio or 0.0, 2) for entry in table] for table in verdicts.judged(kind, 5)]
    assert ratios == [[1.11], [1.11] * 4]


def test_a_rate_has_its_exact_bounds() -> None:
    assert str(verdicts.Rate(0, 100)) == "  0.00% of 100 (one-sided 95 %: at least 0.00%, at most 2.95%)"
