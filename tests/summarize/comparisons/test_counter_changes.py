"""What engines counted, and functions, per operation: which moved most between an arm and its base."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.summarize.comparisons.counter_changes import CounterChanges
from stepgrid.summarize.data.points import Point
from tests.summarize import made

OPERATIONS = 1_000.0


def changes(source: str, base: Mapping[str, float], arm: Mapping[str, float], rate: float = 500.0) -> list[str]:
    """Counts per operation; the arm at half of the base's rate."""
    rates, per = {"arm": rate, "base": 1_000.0}, {"arm": arm, "base": base}
    points = {name: point(name, qps) for name, qps in rates.items()}
    said = {
        place: {source: {each: value * OPERATIONS for each, value in per[name].items()}}
        for name, found in points.items()
        for place in found.places
    }
    return CounterChanges(said).of(points["arm"], points["base"])


def point(name: str, qps: float) -> Point:
    return made.point(*(made.run(name, load, qps, operations=OPERATIONS) for load in (1, 2, 3)))


def test_functions_that_took_the_cpu_come_first() -> None:
    base = {"Get": 4.0, "memcpy": 1.0, "read": 0.5}
    arm = {"Get": 5.0, "memcpy": 1.1, "slow_function": 6.0, "read": 0.2}
    assert changes("perf_record", base, arm) == [
        "`slow_function` 0 → 6 µs of CPU per operation",
        "`Get` 4 → 5 µs of CPU per operation",
    ]


def test_of_a_faster_arm_what_it_no_longer_does() -> None:
    assert changes("perf_record", {"Get": 4.0, "lock": 3.0}, {"Get": 4.1, "lock": 0.1}, rate=2_000.0) == [
        "`lock` 3 → 0.100 µs of CPU per operation"
    ]


def test_counters_that_moved_most_and_of_those_that_move_together_one() -> None:
    base = {"cache.miss": 0.01, "cache.data.miss": 0.0101, "bytes.read": 400.0, "seeks": 1.0}
    arm = {"cache.miss": 0.91, "cache.data.miss": 0.9101, "bytes.read": 404.0, "seeks": 1.6}
    assert changes("engine", base, arm) == [
        "`cache.miss` 0.0100 → 0.910 per operation",
        "`seeks` 1 → 1.60 per operation",
    ]


def test_clocks_and_histograms_are_no_counters() -> None:
    """What grows with time alone is twice as much per operation of an arm at half of the rate."""
    base = {"Uptime": 0.001, "get.micros.p99": 10.0, "get.micros.sum": 5.0}
    assert changes("engine", base, {"Uptime": 0.002, "get.micros.p99": 90.0, "get.micros.sum": 50.0}) == []


def test_what_one_side_lacks_is_missing() -> None:
    assert changes("engine", {"old": 1.0}, {"new": 1.0}) == []
    assert changes("perf_record", {}, {"slow": 1.0}) == []
    assert CounterChanges({}).of(point("arm", 1.0), point("base", 2.0)) == []
