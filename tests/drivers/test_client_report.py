"""Reports of clients: lines of the protocol, and the forms that stepgrid's own clients write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.model.figures import ClientRate, ParseError
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import Interval

INTERVAL = {"report": "interval", "second": 1.0, "interval": 0.5, "operations": 10}


def _intervals(*lines: dict[str, object]) -> list[Interval]:
    return client_report.parse(Path("r"), "\n".join(map(json.dumps, lines))).intervals


def test_intervals_of_the_protocol_and_of_our_clients() -> None:
    assert _intervals({**INTERVAL, "operation": "read", "client": 3, "longest": 0.25}) == [
        Interval(1.0, 0.5, 10, "read", 3, 0.25)
    ]
    assert _intervals({**INTERVAL, "report": "rate"}) == [Interval(1.0, 0.5, 10)]
    client = {"report": "client", "client": 0, "second": 2.0, "interval": 1.0}
    assert _intervals({**client, "inserts": 4, "max_insert": 0.5, "queries": 9, "max_query": 0.25}) == [
        Interval(2.0, 1.0, 4, "insert", 0, 0.5),
        Interval(2.0, 1.0, 9, "query", 0, 0.25),
    ]
    sysbench = {"report": "interval", "time_total": 1.0, "time_interval": 1.0, "reads": 5, "writes": 2, "other": 1}
    assert _intervals(sysbench) == [Interval(1.0, 1.0, 8)]
    assert _intervals({**sysbench, "batch": 1000}) == [Interval(1.0, 1.0, 2000)]


def test_rates_of_all_clients_are_summed_and_a_short_last_interval_is_left_out() -> None:
    intervals = [Interval(1.0, 1.0, 4, "a", 0, 0.5), Interval(1.0, 1.0, 6, "b", 1), Interval(1.2, 0.2, 9, "a", 0)]
    assert client_report.series(intervals) == [(1.0, 10.0)]
    assert client_report.series(intervals, "a") == [(1.0, 4.0)]
    assert client_report.client_rates(intervals)[:2] == [
        ClientRate(0, 1.0, "a", 4.0, 5e5), ClientRate(1, 1.0, "b", 6.0, None),
    ]  # fmt: skip


def test_damaged_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / client_report.FILE
    path.write_text(f'{json.dumps(INTERVAL)}\n{"[" * 9999}\n{{"report": []}}\n3\n{{"report": "end", "sec')
    report = client_report.read(path)
    assert report.intervals == [Interval(1.0, 0.5, 10)]
    with pytest.raises(ParseError, match=r"report\.jsonl: the client did not report its end$"):
        client_report.read_whole(path)
    with pytest.raises(ParseError, match=r"^report\.jsonl has no line of `end`$"):
        report.last("end")


def test_a_running_step(tmp_path: Path) -> None:
    assert client_report.live(tmp_path) == ()
    with client_report.ReportFile(tmp_path) as report:
        report.write("interval", second=1.0, interval=1.0, operations=30, operation="insert")
        report.write("interval", second=2.0, interval=1.0, operations=3, operation="query")
    assert client_report.live(tmp_path, "query", "insert") == [(2.0, 3.0)]
    assert client_report.live(tmp_path) == [(1.0, 30.0), (2.0, 3.0)]


def test_a_percentile_is_the_upper_limit_of_its_bucket() -> None:
    assert client_report.percentiles({}) == {}
    assert client_report.percentiles({0: 99, 32: 1})["p99_us"] == 2 ** (1 / 32)
    assert client_report.percentiles({0: 99, 32: 1})["p99_9_us"] == 2 ** (33 / 32)
    assert client_report.bucket_counts([{"buckets": [[32, 1]]}, {"buckets": [[0, 2], [32, 3]]}]) == {0: 2, 32: 4}
