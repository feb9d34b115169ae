"""The speed of a db_bench that runs, by the end of its report file."""

from __future__ import annotations

from pathlib import Path

from stepgrid.drivers.db_bench.command import REPORT
from stepgrid.drivers.db_bench.live_throughput import TAIL, readings

HEAD = "secs_elapsed,interval_qps\n"


def report(folder: Path, text: str) -> Path:
    (folder / REPORT).write_text(text)
    return folder


def test_a_short_file_is_read_from_its_start(tmp_path: Path) -> None:
    assert [rate for _, rate in readings(report(tmp_path, f"{HEAD}1,100\n2,200\n"))] == [100.0, 200.0]


def test_a_line_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    assert [rate for _, rate in readings(report(tmp_path, f"{HEAD}1,100\n2,2"))] == [100.0]


def test_of_a_long_one_only_whole_lines_at_its_end_are_read(tmp_path: Path) -> None:
    lines = [f"{second},{second * 10}\n" for second in range(1, 5001)]
    found = readings(report(tmp_path, HEAD + "".join(lines)))
    assert found[-1] == (5000.0, 50000.0)
    assert 0 < len(found) <= TAIL // len(lines[-1])
    assert all(rate == 10 * second for second, rate in found)


def test_what_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    assert readings(tmp_path) == ()
    assert readings(report(tmp_path, "a,b\n1,2\n")) == ()
