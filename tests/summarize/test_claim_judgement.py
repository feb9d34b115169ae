"""Sides of 1 that an interval is on."""

import pytest

from stepgrid.summarize.claim_judgement import FAILS, HOLDS, by_interval
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.verdicts import UNDECIDED


@pytest.mark.parametrize(
    ("sign", "low", "high", "result"),
    [
        (">", 1.1, 1.5, HOLDS),
        (">", 1.0, 1.5, UNDECIDED),
        (">", 0.5, 1.0, FAILS),
        (">", 0.9, 1.1, UNDECIDED),
        (">=", 1.0, 1.5, HOLDS),
        (">=", 0.5, 1.0, UNDECIDED),
        (">=", 0.5, 0.9, FAILS),
        ("<", 0.5, 0.9, HOLDS),
        ("<", 0.5, 1.0, UNDECIDED),
        ("<", 1.0, 1.5, FAILS),
        ("<=", 0.5, 1.0, HOLDS),
        ("<=", 1.0, 1.5, UNDECIDED),
        ("<=", 1.1, 1.5, FAILS),
    ],
)
def test_by_interval(sign: str, low: float, high: float, result: str) -> None:
    assert by_interval(sign, Interval((low * high) ** 0.5, low, high, 3)) == result
