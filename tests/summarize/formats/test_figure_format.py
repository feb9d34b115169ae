"""Figures as people read them: what says nothing is said in a word."""

from __future__ import annotations

import pytest

from stepgrid.summarize.formats import figure_format
from stepgrid.summarize.statistics.confidence_intervals import Interval


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.08, 1.16, "[1.08, 1.16]"),
        (0.05, 40.0, "[0.05, 40.00]"),
        (1e-48, 1.75e48, "[unbounded]"),
        (0.0, 1.75e48, "[unbounded]"),
        (1.5, 1.75e48, "[1.50, unbounded]"),  # faster, however much
        (1e-48, 0.7, "[0.00, 0.70]"),
    ],
)
def test_an_interval_that_says_nothing_is_unbounded(low: float, high: float, text: str) -> None:
    assert figure_format.interval(Interval(1.0, low, high, 2)) == text


@pytest.mark.parametrize(("low", "high", "text"), [(940.4, 1060.0, "940-1,060"), (1e-9, 1e12, "unbounded")])
def test_so_is_that_of_a_median(low: float, high: float, text: str) -> None:
    assert figure_format.reach(low, high) == text


def test_rates_below_zero_are_told_as_those_above() -> None:
    assert [figure_format.rate(each) for each in (-5000.0, 5000.0, -3.2, 3.2)] == ["-5,000", "5,000", "-3.20", "3.20"]
