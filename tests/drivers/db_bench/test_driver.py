from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.plugins.driver import Context, LiveThroughput, RunningDriver
from stepgrid.plugins.registry import driver

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


def test_how_fast_a_step_is_while_it_runs(tmp_path: Path) -> None:
    """The file has the operations of an interval; of a long one the end is read, where the first line is half a one."""
    assert isinstance(DRIVER, LiveThroughput)
    (tmp_path / "report.csv").write_text("secs_elapsed,interval_qps\n10,5000\n20,7000\n30,9")
    assert DRIVER.live(tmp_path) == [(10.0, 500.0), (20.0, 700.0)]
    lines = "".join(f"{second},{second * 10}\n" for second in range(10, 20_000, 10))
    (tmp_path / "report.csv").write_text(f"secs_elapsed,interval_qps\n{lines}")
    assert DRIVER.live(tmp_path)[-2:] == [(19980.0, 19980.0), (19990.0, 19990.0)]


def test_it_keeps_what_the_engine_says_of_itself(tmp_path: Path) -> None:
    assert isinstance(DRIVER, RunningDriver)
    context = Context({"db_bench": ("db_bench",)}, "9.9.3", tmp_path / "db", tmp_path, seed=7)
    assert DRIVER.command({"benchmarks": ["fillseq"], "keys": 5}, {}, context).keep == ("LOG",)
