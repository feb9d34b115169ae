"""A step's folder: the output, and the exact report beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import ParseError
from stepgrid.plugins.metrics import METRICS
from stepgrid_databases.drivers.client_report import TAIL, live
from stepgrid_databases.drivers.sysbench import Sysbench
from stepgrid_databases.drivers.sysbench.parser import parse
from tests.drivers.sysbench.test_output import END, HEAD, HISTOGRAM, PERCENTILES, SERIES

QUERY = {"lua": "point_query", "rows": 1000}
TIMES = {"latency_pct": 0.002}
INTERVAL = {"events": 10, "reads": 100, "writes": 0, "other": 20, "errors": 0, "reconnects": 0, "percentile": 95}
TOTAL = {
    **INTERVAL,
    "report": "total",
    "events": 100,
    "reads": 1400,
    "writes": 400,
    "other": 200,
    "errors": 3,
    "time_total": 5.25,
    "time_interval": 5.0,
    "latency_min": 0.0007,
    "latency_avg": 0.0015021,
    "latency_max": 0.0042504,
    "latency_sum": 0.15,
    **TIMES,
}


def _interval(second: float, **more: Any) -> dict[str, Any]:
    return {"report": "interval", **INTERVAL, "time_total": second, "time_interval": 0.8, **TIMES, **more}


def _folder(path: Path, *lines: dict[str, Any], output: str = HEAD + SERIES + HISTOGRAM + END) -> Path:
    (path / "stdout").write_text(output)
    (path / "report.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_the_report_is_more_exact_than_the_output(tmp_path: Path) -> None:
    found = parse(_folder(tmp_path, _interval(1.01), _interval(2.0), TOTAL), QUERY)
    metrics = {name: round(value, 6) for name, value in found.metrics.items()}
    assert metrics == {
        "qps": 400.0,
        "operations": 2000.0,
        "seconds": 5.0,
        "transactions_per_s": 20.0,
        "transactions": 100.0,
        "read_queries": 1400.0,
        "write_queries": 400.0,
        "other_queries": 200.0,
        "ignored_errors": 3.0,
        "reconnects": 0.0,
        "min_us": 700.0,
        "avg_us": 1502.1,
        "max_us": 4250.4,
        **PERCENTILES,
    }
    assert [(second, round(qps, 6)) for second, qps in found.qps] == [(1.01, 150.0), (2.0, 150.0)]
    assert [list(each.operations) for each in found.histograms] == [[60, 38, 2]]


def test_a_workload_that_reports_in_its_own_way_has_what_sysbench_prints(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text(HEAD + SERIES + END)
    found = parse(tmp_path, {"lua": "mine.lua", "rows": 1})
    assert found.metrics["avg_us"] == 1500.0
    assert found.qps == [(1.0, 200.5), (2.0, 240.0)]


def test_a_scan_has_rows_per_second(tmp_path: Path) -> None:
    found = parse(_folder(tmp_path, TOTAL), {"lua": "scan", "rows": 1000})
    assert found.metrics["rows_per_s"] == 400_000.0
    assert "rows_per_s" not in parse(tmp_path, QUERY).metrics


def test_the_operations_of_a_load_are_rows(tmp_path: Path) -> None:
    tables = [
        {"report": "loaded", "client": client, "rows": 5000, "insert_seconds": inserting, "index_seconds": 0.5}
        for client, inserting in ((0, 1.0), (1, 1.5), (0, 2.0))
    ]
    lines = [_interval(1.0, writes=4, batch=1000), *tables, {**TOTAL, "writes": 15, "batch": 1000}]
    found = parse(_folder(tmp_path, *lines), {"lua": "load", "rows": 5000})
    assert found.metrics == {
        "qps": 3000.0,
        "operations": 15_000.0,
        "seconds": 5.0,
        "insert_seconds": 3.0,
        "index_seconds": 1.0,
        "ignored_errors": 3.0,
    }
    assert found.qps == [(1.0, 5000.0)]
    assert not found.histograms


def test_all_that_is_found_is_a_metric(tmp_path: Path) -> None:
    for settings in (QUERY, {"lua": "scan", "rows": 10}):
        assert parse(_folder(tmp_path, TOTAL), settings).metrics.keys() <= METRICS.keys()


def test_a_load_without_its_end(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        parse(_folder(tmp_path, TOTAL), {"lua": "load", "rows": 5000})
    said = "the load has no end: report.jsonl beside it names no table and no total"
    assert str(caught.value) == f"{tmp_path}/stdout: {said}"


def test_no_output(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        parse(tmp_path, QUERY)
    assert str(caught.value) == f"{tmp_path}/stdout: there is no such file, where sysbench's output was expected"
    assert Sysbench().complaint(tmp_path) is None


def test_a_failure_in_its_words(tmp_path: Path) -> None:
    _folder(tmp_path, output=f"{HEAD}FATAL: deadlock\n")
    assert Sysbench().complaint(tmp_path) == "sysbench failed: deadlock"
    with pytest.raises(ParseError) as caught:
        parse(tmp_path, QUERY)
    assert str(caught.value) == f"{tmp_path}/stdout: sysbench failed: deadlock"


def test_live_reads_the_end_alone(tmp_path: Path) -> None:
    _folder(tmp_path, *(_interval(float(second)) for second in range(1, 600)))
    with (tmp_path / "report.jsonl").open("a") as file:
        file.write('{"report": "interval", "time_tot')
    found = live(tmp_path)
    assert found[-1] == (599.0, pytest.approx(150.0))
    assert 20 < len(found) < 599
    assert (tmp_path / "report.jsonl").stat().st_size > TAIL
    assert live(tmp_path / "elsewhere") == ()
