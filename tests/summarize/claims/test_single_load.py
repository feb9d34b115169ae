"""What one load of a claim is taken to be off."""

from __future__ import annotations

import pytest

from stepgrid.plan.report_check import Figure
from stepgrid.summarize.claims import single_load


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
    found = single_load.reach(floor, timed)
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
    assert single_load.timed([metric]) is expected


@pytest.mark.parametrize(("rate", "held"), [(1003.0, True), (1000.0, True), (985.0, True), (970.0, False)])
def test_a_rate_that_is_held_is_no_faster_on_a_faster_host(rate: float, held: bool) -> None:
    kept, target, other = (Figure(name, ()) for name in ("inserts_per_s", "target_inserts_per_s", "qps"))
    assert single_load.held({kept: rate, target: 1000.0}) is held
    assert not single_load.held({kept: rate, other: 1000.0})
    assert not single_load.held({target: 1000.0})
