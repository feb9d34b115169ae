"""Reports of clients: lines of the protocol, and the forms that stepgrid's own clients write."""

import json
from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import RateInterval

INTERVAL = {"report": "interval", "second": 1.0, "interval": 0.5, "operations": 10}


def test_damaged_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / client_report.FILE
    path.write_text(f'{json.dumps(INTERVAL)}\n{"[" * 9999}\n{{"report": []}}\n3\n{{"report": "end", "sec')
    report = client_report.read(path)
    assert report.intervals == [RateInterval(1.0, 0.5, 10)]
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
