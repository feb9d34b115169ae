"""Lines of clients, and the statistics between them that are of no end."""

import pytest

from stepgrid.drivers.db_bench.parser import intervals
from stepgrid.drivers.db_bench.parser.dump import state

LINE = "2026/11/21-18:08:10  ... thread {}: ({},{}) ops and ({:.1f},{:.1f}) ops/second in ({:.6f},{:.6f}) seconds\n"
DUMP = """
** DB Stats **
Uptime(secs): {0:.1f} total, 1.0 interval
Cumulative writes: 5 writes, 5 keys, 5 commit groups, 1.0 writes per commit group, ingest: 0.01 GB, 1.00 MB/s
Interval stall: 00:00:0.000 H:M:S, 0.0 percent
"""
STALL = "Write Stall (count): write-buffer-manager-limit-stops: 0\n"
RUNNING = "num-running-compactions: 0\nnum-running-flushes: 0\n\n"
RESULT = "readrandom   :       3.523 micros/op 283840 ops/sec; (5 of 5 found)\n"


def line(client: int, operations: int, second: float, rate: float) -> str:
    return LINE.format(client, operations, operations, rate, rate, 1.0, second)


def test_each_client_has_its_own() -> None:
    text = line(1, 500, 1.0, 500.0) + line(0, 48, 1.5, 32.0) + "num-running-flushes: 0\n" + line(1, 900, 2.0, 400.0)
    found = [(each.client, each.second, each.per_second) for each in intervals.read(text)]
    assert found == [(1, 1.0, 500.0), (0, 1.5, 32.0), (1, 2.0, 400.0)]


def test_half_a_line_is_none() -> None:
    assert list(intervals.read(line(0, 5, 1.0, 5.0)[:-10])) == []


@pytest.mark.parametrize("tail", ["", STALL, RUNNING, STALL + RUNNING])
def test_statistics_of_an_interval_are_left_out(tail: str) -> None:
    end = DUMP.format(9.0)
    text = RESULT + line(0, 5, 1.0, 5.0) + DUMP.format(1.0) + tail + line(1, 5, 1.0, 5.0) + end
    kept = intervals.without_dumps(text)
    assert state.figures(kept)["uptime_seconds"] == 9.0
    assert state.figures(intervals.without_dumps(text.removesuffix(end))) == {}


def test_a_result_is_never_left_out() -> None:
    text = line(0, 5, 1.0, 5.0) + RESULT + DUMP.format(9.0)
    assert intervals.without_dumps(text) == text


def test_the_writer_is_client_0() -> None:
    said = line(1, 90000, 20.0, 4500.0) + line(0, 100000, 20.0, 5000.0) + line(0, 216000, 40.0, 5800.0)
    assert intervals.writer("readwhilewriting", said, {}, alone=True) == {"writer_qps": 5400.0}
    assert intervals.writer("readrandom", said, {}, alone=True) == {}


def test_where_it_says_nothing_all_that_was_written_is_its_own() -> None:
    """Unless another benchmark of the step wrote as well."""
    metrics = {"keys_written": 19000.0, "seconds": 4.0}
    assert intervals.writer("readwhilewriting", "", metrics, alone=True) == {"writer_qps": 4750.0}
    assert intervals.writer("readwhilewriting", "", metrics, alone=False) == {}
    assert intervals.writer("readwhilewriting", "", {"seconds": 4.0}, alone=True) == {}
