"""Sides of 1 that an interval is on, and how far one load may be off."""

import pytest

from stepgrid.plan.report_check import Figure
from stepgrid.summarize.claim_judgement import FAILS, HOLDS, by_interval, is_paced, is_timed, load_reach
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


@pytest.mark.parametrize(
    ("floor", "timed", "within", "words"),
    [
        (None, True, 1.297, "noise floor unknown, 2.30× assumed"),
        (None, False, 0.25, "±25 % assumed"),
        (0.02, True, 0.25, "±25 % assumed"),
        (0.02, False, 0.25, "±25 % assumed"),
        (1.86, True, 1.86, "noise floor 186 %"),
        (1.86, False, 1.86, "noise floor 186 %"),
    ],
)
def test_reach(floor: float | None, timed: bool, within: float, words: str) -> None:
    found = load_reach(floor, timed)
    assert (pytest.approx(found[0], abs=0.001), found[1]) == (within, words)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("qps", True),
        ("p99_us", True),
        ("seconds", True),
        ("cpu_us_per_op", True),
        ("mb_per_s", True),
        ("of_the_spec", True),
        ("recall", False),
        ("write_amplification", False),
        ("reads_per_op", False),
        ("wal_bytes", False),
    ],
)
def test_sizes_and_counts_do_not_follow_the_speed_of_the_host(metric: str, expected: bool) -> None:
    assert is_timed([metric]) is expected


@pytest.mark.parametrize(("rate", "held"), [(1003.0, True), (1000.0, True), (985.0, True), (970.0, False)])
def test_a_rate_that_is_held_is_no_faster_on_a_faster_host(rate: float, held: bool) -> None:
    kept, target, other = (Figure(name, ()) for name in ("inserts_per_s", "target_inserts_per_s", "qps"))
    assert is_paced({kept: rate, target: 1000.0}) is held
    assert not is_paced({kept: rate, other: 1000.0})
    assert not is_paced({target: 1000.0})
