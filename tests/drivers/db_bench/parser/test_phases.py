"""When a step measured, and how long it drained what that left."""

import json
from pathlib import Path

import pytest

from stepgrid.drivers.db_bench.parser import phases

AND_WAIT = ["overwrite", "flush", "levelstats", "waitforcompaction", "memstats", "stats"]
METRICS = {"seconds": 6.0, "uptime_seconds": 11.1}


@pytest.mark.parametrize(
    ("benchmarks", "seconds"),
    [
        (AND_WAIT, 5.1),
        (["levelstats", *AND_WAIT], 5.1),
        (["overwrite", "stats"], None),  # nothing is awaited
        (["overwrite", "stats", "waitforcompaction"], None),  # the statistics are of before
        (["flush", "overwrite", "waitforcompaction", "stats"], None),  # it was open before
        (["overwrite", "readrandom", "waitforcompaction", "stats"], None),
    ],
)
def test_draining(benchmarks: list[str], seconds: float | None) -> None:
    found = phases.drain(benchmarks, "overwrite", METRICS)
    assert found == ({} if seconds is None else {"drain_seconds": pytest.approx(seconds)})


def test_draining_is_unknown_without_both_times() -> None:
    assert phases.drain(AND_WAIT, "overwrite", {"seconds": 6.0}) == {}
    assert phases.drain(AND_WAIT, "overwrite", {"uptime_seconds": 6.0}) == {}


def test_stalls_are_of_the_time_in_which_somebody_writes() -> None:
    """1.2 s of stalls in 6 s of overwrites: the 10.8 % that are printed are of the 11.1 s with the drain in them."""
    found = {**METRICS, "drain_seconds": 5.1, "stall_seconds": 1.2, "stall_pct": 10.8}
    assert phases.stalled(found) == {"stall_pct": pytest.approx(20.0), "stall_pct_published": 10.8}


@pytest.mark.parametrize("missing", ["drain_seconds", "stall_seconds", "stall_pct", "seconds"])
def test_stalls_of_a_step_that_drains_nothing_stay_as_printed(missing: str) -> None:
    found = {**METRICS, "drain_seconds": 5.1, "stall_seconds": 1.2, "stall_pct": 10.8}
    assert phases.stalled({name: value for name, value in found.items() if name != missing}) == {}


LEVELS = """\

Level Files Size(MB)
--------------------
  0       10       36
  1        0        0
  7       32      141
"""


@pytest.mark.parametrize(
    ("after", "known"),
    [
        (["flush", "levelstats", "waitforcompaction", "stats"], True),
        (["levelstats", "compact0", "stats"], True),
        (["waitforcompaction", "levelstats", "stats"], False),  # of later
        (["flush", "levelstats", "stats"], False),  # nothing is awaited
        (["readrandom", "levelstats", "waitforcompaction"], False),
    ],
)
def test_the_debt_when_draining_begins(after: list[str], known: bool) -> None:
    found = phases.left(["overwrite", *after], "overwrite", f"{LEVELS}\nwaitforcompaction(db): started\n{LEVELS}")
    assert found == ({"drain_l0_files": 10, "drain_l0_bytes": 36 * 2**20} if known else {})


def test_no_level_0_no_debt_known() -> None:
    cut = "\nLevel Files Size(MB)\n--------------------\n  1       10       36\n"
    assert phases.left(AND_WAIT, "overwrite", cut) == phases.left(AND_WAIT, "overwrite", "") == {}


def test_the_measurement_begins_when_the_database_is_open(tmp_path: Path) -> None:
    (tmp_path / "step.json").write_text(json.dumps({"seconds": 13.6}))
    start, end = phases.window(tmp_path, AND_WAIT, "overwrite", METRICS) or (0.0, 0.0)
    assert (start, end) == (pytest.approx(2.5), pytest.approx(8.5))


def test_while_a_step_is_not_over_it_begins_with_it(tmp_path: Path) -> None:
    assert phases.window(tmp_path, AND_WAIT, "overwrite", METRICS) == (0.0, 6.0)
    (tmp_path / "step.json").write_text(json.dumps({"seconds": 13.6}))
    assert phases.window(tmp_path, ["overwrite"], "overwrite", {"seconds": 6.0}) is None


def test_one_that_nobody_can_place_is_the_whole_step(tmp_path: Path) -> None:
    assert phases.window(tmp_path, ["flush", "overwrite", "stats"], "overwrite", METRICS) is None
    assert phases.window(tmp_path, ["overwrite", "stats"], "overwrite", {"uptime_seconds": 5.0}) is None
