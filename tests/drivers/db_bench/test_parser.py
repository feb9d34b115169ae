"""Figures of a step's files, and of logs that people have."""

from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError
from stepgrid.plugins.registry import driver
from stepgrid_databases.drivers.db_bench.parser import (
    drain_figures,
    measured_stall_share,
)

RESULT = "readrandom   :       3.523 micros/op 283840 ops/sec 0.705 seconds 200000 operations;   15.7 MB/s\n"


def _step(folder: Path, stdout: str, stderr: str = "") -> Path:
    (folder / "stdout").write_text(stdout)
    (folder / "stderr").write_text(stderr)
    return folder


def _parse(folder: Path, *benchmarks: str) -> dict[str, float]:
    return dict(driver("db_bench").parse(folder, {"benchmarks": list(benchmarks)}).metrics)


@pytest.mark.parametrize("end", range(10, len(RESULT) - len(";   15.7 MB/s\n")))
def test_half_a_result_line_is_none(end: int, tmp_path: Path) -> None:
    with pytest.raises(ParseError):
        _parse(_step(tmp_path, RESULT[:end]), "readrandom")


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
    found = drain_figures(benchmarks, "overwrite", METRICS)
    assert found == ({} if seconds is None else {"drain_seconds": pytest.approx(seconds)})


@pytest.mark.parametrize("missing", ["drain_seconds", "stall_seconds", "stall_pct", "seconds"])
def test_stalls_of_a_step_that_drains_nothing_stay_as_printed(missing: str) -> None:
    found = {**METRICS, "drain_seconds": 5.1, "stall_seconds": 1.2, "stall_pct": 10.8}
    assert measured_stall_share({name: value for name, value in found.items() if name != missing}) == {}
