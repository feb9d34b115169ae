from __future__ import annotations

from typing import Any

import pytest

from compiler.drivers import driver

DRIVER = driver("db_bench")


def _estimate(**settings: Any) -> float:
    return DRIVER.estimate({"threads": 1, "duration": None, "reads": None, "writes": None, **settings})


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ({"benchmarks": ["fillseq", "stats"], "keys": 400_000, "duration": 30.0}, 2.0),
        ({"benchmarks": ["fillseq"], "keys": 400_000, "threads": 2, "writes": 100_000}, 1.0),
        ({"benchmarks": ["readrandom", "stats"], "keys": 400_000, "duration": 30.0}, 30.0),
        ({"benchmarks": ["readrandom", "stats"], "keys": 400_000, "reads": 200_000}, 1.0),
        ({"benchmarks": ["flush", "waitforcompaction", "levelstats"], "keys": 10}, 6.0),
    ],
)
def test_estimate(settings: dict[str, Any], seconds: float) -> None:
    assert _estimate(**settings) == pytest.approx(seconds)


def test_the_seed_follows_what_the_step_does_not_what_it_is_called() -> None:
    assert DRIVER.seed_key({"benchmarks": ["overwrite", "stats"]}) == "overwrite"


def test_reserved_names_the_setting() -> None:
    assert DRIVER.reserved["num"] == "keys"
    assert DRIVER.reserved["db"] == ""
