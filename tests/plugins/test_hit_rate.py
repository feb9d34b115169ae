"""Fewer keys found than expected, and not by chance."""

from typing import Any

import pytest

from stepgrid.model.plan import Options, PlannedStep
from stepgrid.plugins import hit_rate


def step(*benchmarks: str, kind: str = "db_bench", **settings: Any) -> PlannedStep:
    given = {"benchmarks": list(benchmarks), "keys": 100_000, **settings}
    return PlannedStep("s", kind, 1, given, Options([]), 7)


READ = step("readrandom", threads=4)


def metrics(found: float, operations: float | None = 400_000) -> dict[str, float]:
    return {"found_pct": found, **({} if operations is None else {"operations": operations})}


def test_kinds_that_find_nothing_expect_nothing() -> None:
    steps = [step("fillseq", fresh=True), PlannedStep("q", "quiesce", 1, {}, Options([]), 7), READ]
    assert hit_rate.expected_percent(steps) == [None, None, 100]
    assert hit_rate.expected_percent([PlannedStep("c", "command", 1, {"argv": ["x"]}, Options([]), 7)]) == [None]
    assert hit_rate.expected_percent([]) == []


@pytest.mark.parametrize(
    ("found", "wanted", "low"),
    [(100, 100, False), (99, 100, False), (98.9, 100, True), (0, 100, True), (63.2, 63.2, False), (62, 63.2, True)],
)
def test_below_99_percent_of_what_is_expected_it_is_low(found: float, wanted: float, low: bool) -> None:
    assert hit_rate.is_low(metrics(found), wanted, READ) is low


def test_what_chance_does_is_not_low() -> None:
    """Of 1,000 lookups of one client, 60 % are not far from 63.2 %."""
    assert not hit_rate.is_low(metrics(60, 4_000), 63.2, READ)
    assert hit_rate.is_low(metrics(50, 4_000), 63.2, READ)
    assert not hit_rate.is_low(metrics(50, None), 63.2, READ)  # of how many is not known
    assert hit_rate.is_low(metrics(98, None), 100, READ)
    assert not hit_rate.is_low({}, 100, READ)


@pytest.mark.parametrize(
    ("found", "operations", "wanted", "nothing"),
    [
        (0, 400_000, 100, True),
        (0, 400_000, 0.01, False),  # 10 of 100,000 lookups
        (0, 400_000, 0.1, True),
        (0, 40, 100, False),
        (0, None, 100, True),
        (0, None, 63.2, False),
        (0.001, 400_000, 100, False),
        (0, 400_000, None, True),  # of a compaction that forgets, nobody knows how many there are
        (0, 40, None, False),
    ],
)
def test_nothing_found(found: float, operations: float | None, wanted: float | None, nothing: bool) -> None:
    assert hit_rate.is_zero(metrics(found, operations), wanted, READ) is nothing


def test_a_benchmark_of_missing_keys_may_find_none() -> None:
    assert not hit_rate.is_zero(metrics(0), None, step("readmissing", threads=4))
    named = PlannedStep("misses", "command", 1, {"argv": ["x"]}, Options([]), 7)
    assert not hit_rate.is_zero(metrics(0), None, named)
