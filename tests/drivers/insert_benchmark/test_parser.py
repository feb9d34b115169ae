from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import Buckets, ClientRate, ParseError
from stepgrid_databases.drivers.insert_benchmark import InsertBenchmark
from stepgrid_databases.drivers.insert_benchmark.parser import parse
from stepgrid_databases.drivers.insert_benchmark.settings import Settings

DRIVER = InsertBenchmark()
Line = dict[str, Any]


def _role(client: int, operation: str, count: int, ended: float, **more: Any) -> Line:
    line = {"report": "role", "client": client, "operation": operation, "count": count, "retries": 0, "began": 100.0}
    return {**line, "ended": ended, "longest": 0.004, "resyncs": 0, "resync_seconds": 0.0, "buckets": [], **more}


def _interval(client: int, second: float, length: float = 1.0, **counts: float) -> Line:
    known = {"report": "client", "client": client, "second": second, "interval": length, "retries": 0}
    return {**known, **counts}


END = {"report": "end", "seconds": 12.0, "started": 98.0, "failed": 0}
PROBES = [{"report": "probe", "client": client, "seconds": seconds} for client, seconds in ((0, 0.25), (1, 0.5))]
QUERIES = [
    *PROBES,
    *(_interval(0, float(second), inserts=10, max_insert=0.001, queries=100 + second, max_query=0.002)
      for second in range(1, 11)),
    *(_interval(1, float(second), inserts=8, max_insert=0.0, queries=50, max_query=0.002) for second in range(1, 11)),
    _interval(0, 10.2, 0.2, inserts=0, max_insert=0.0, queries=1, max_query=0.002),
    _role(0, "insert", 100, 110.0, retries=2, longest=0.75),
    _role(1, "insert", 80, 110.0),
    _role(0, "delete", 100, 110.5, resyncs=1, resync_seconds=0.125),
    _role(0, "query", 1100, 110.0, buckets=[[160, 3], [320, 1]]),
    _role(1, "query", 500, 110.0, buckets=[[0, 1], [160, 5]]),
    END,
]  # fmt: skip
ASKED: Line = {"action": "query", "clients": 2, "insert_rate": 10, "duration": 8.0}


def _folder(tmp_path: Path, lines: list[Line]) -> Path:
    (tmp_path / "report.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def _settings(given: Line) -> Line:
    return Settings.model_validate(given).model_dump(mode="json")


def test_a_step_that_queries(tmp_path: Path) -> None:
    found = parse(_folder(tmp_path, QUERIES), _settings(ASKED))
    assert found.metrics == pytest.approx(
        {
            "operations": 1600, "rows_inserted": 180, "rows_deleted": 100, "seconds": 10.5, "qps": 160,
            "inserts_per_s": 18, "inserts_per_s_with_setup": 15, "deletes_per_s": 100 / 10.5,
            "insert_shortfall_pct": 10, "lengthened_seconds": 2, "max_insert_seconds": 0.75,
            "max_delete_seconds": 0.004, "max_query_seconds": 0.004, "retries": 2, "min_id_resyncs": 1,
            "min_id_resync_seconds": 0.125, "median_qps": 156, "median_inserts_per_s": 18,
            "worst_inserts_per_s_p99": 18, "first_client_p50_rate": 106, "first_client_p99_rate": 101,
            "min_id_probe_seconds": 0.5, "p50_us": 2 ** (161 / 32), "p75_us": 2 ** (161 / 32),
            "p95_us": 2 ** (321 / 32), "p99_us": 2 ** (321 / 32), "p99_9_us": 2 ** (321 / 32),
            "p99_99_us": 2 ** (321 / 32),
        }
    )  # fmt: skip
    assert found.facts == {"ended": "when the rows were in"}
    assert found.qps[:2] == [(1.0, 151.0), (2.0, 152.0)]
    assert found.rates[:2] == [ClientRate(0, 1.0, "insert", 10.0, 1000.0), ClientRate(0, 1.0, "query", 101.0, 2000.0)]
    assert ClientRate(1, 1.0, "insert", 8.0, None) in found.rates
    limits = [2.0 ** (bucket / 32) for bucket in (1, 160, 161, 320, 321)]
    assert found.histograms == [
        Buckets("range", [0.0, limits[1], limits[3]], [limits[0], limits[2], limits[4]], [1, 8, 1])
    ]


def test_a_step_that_inserts(tmp_path: Path) -> None:
    lines = [_interval(0, 1.0, inserts=30, max_insert=0.004), _role(0, "insert", 40, 102.0, buckets=[[64, 4]]), END]
    found = parse(_folder(tmp_path, lines), _settings({"action": "insert", "rows": 40}))
    assert found.metrics == {
        "operations": 40, "rows_inserted": 40, "seconds": 2, "qps": 20, "inserts_per_s": 20,
        "inserts_per_s_with_setup": 10, "max_insert_seconds": 0.004, "retries": 0,
        "median_qps": 30, "median_inserts_per_s": 30, "worst_inserts_per_s_p99": 30,
    }  # fmt: skip
    assert (found.facts, [each.operation for each in found.histograms]) == ({}, ["insert"])


def test_the_rate_of_indexes_is_that_of_all_rows(tmp_path: Path) -> None:
    progress = [{"report": "progress", "client": client, "inserted": 5100, "deleted": 40} for client in (0, 1)]
    lines = [_role(0, "insert", 100, 100.1), *progress, END]
    found = parse(_folder(tmp_path, lines), _settings({"action": "index", "clients": 2}))
    assert {name: found.metrics[name] for name in ("operations", "seconds", "qps", "inserts_per_s")} == {
        "operations": 10120, "seconds": 12, "qps": 10120 / 12, "inserts_per_s": 10120 / 12,
    }  # fmt: skip
    assert "median_inserts_per_s" not in found.metrics


def test_the_few_rows_before_the_indexes_are_no_rate_over_time(tmp_path: Path) -> None:
    rows = [_interval(0, 1.0, inserts=100, max_insert=0.001), _interval(0, 2.0, inserts=0, max_insert=0.0)]
    lines = [*rows, _role(0, "insert", 100, 100.1), {"report": "progress", "inserted": 5100, "deleted": 0}, END]
    found = parse(_folder(tmp_path, lines), _settings({"action": "index"}))
    assert (list(found.qps), list(found.rates)) == ([], [])


def test_a_check_has_its_time(tmp_path: Path) -> None:
    assert parse(_folder(tmp_path, [END]), _settings({"action": "check"})).metrics == {"seconds": 12}


def test_a_report_without_an_end(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"report\.jsonl cannot be read: No such file or directory$"):
        parse(tmp_path, _settings(ASKED))
    with pytest.raises(ParseError, match=r"report\.jsonl: the client did not report its end$"):
        parse(_folder(tmp_path, QUERIES[:-1]), _settings(ASKED))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FATAL: mysql_drv_query() returned error 1062 (Duplicate …) for query 'INSERT INTO piFATAL: `thread_run' "
         "function failed: error 1062 (23000): Duplicate entry\n", "error 1062 (23000): Duplicate entry"),
        ("FATAL: `init' function failed: pi1: it did not end\n", "pi1: it did not end"),
        ("FATAL: unable to connect to MySQL server, aborting...\nFATAL: error 2002: no socket\n",
         "unable to connect to MySQL server: error 2002: no socket"),
    ],
)  # fmt: skip
def test_why_it_failed(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "stdout").write_text(text)
    assert DRIVER.complaint(tmp_path) == f"the insert benchmark failed: {said}"


def test_a_client_that_says_nothing(tmp_path: Path) -> None:
    assert DRIVER.complaint(tmp_path) is None
    (tmp_path / "stdout").write_text("Threads started!\n")
    assert DRIVER.complaint(tmp_path) is None


def test_a_step_that_runs(tmp_path: Path) -> None:
    assert DRIVER.live(tmp_path) == ()
    _folder(tmp_path, QUERIES[:4])
    with (tmp_path / "report.jsonl").open("a") as file:
        file.write('{"report": "client", "cli')
    assert DRIVER.live(tmp_path) == [(1.0, 101.0), (2.0, 102.0)]
    _folder(tmp_path, [_interval(0, 1.0, inserts=30, max_insert=0.1)])
    assert DRIVER.live(tmp_path) == [(1.0, 30.0)]


def test_targets() -> None:
    assert DRIVER.targets(_settings(ASKED)) == {"target_inserts_per_s": 20.0}
