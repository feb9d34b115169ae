"""What the logs of engines say of a recovery, and what transactions that were due meanwhile waited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError
from stepgrid_databases.drivers.crash.parser import parse, rocksdb_recovery, server_recovery

ROCKSDB = """\
2026/11/26-05:25:33.305289 4716 EVENT_LOG_v1 {"time_micros": 1795670733304980, "job": 1, "event": "recovery_started", "wal_files": [4]}
2026/11/26-05:25:36.121279 4716 EVENT_LOG_v1 {"time_micros": 1795670736121115, "cf_name": "default", "job": 1, "event": "table_file_creation", "file_number": 8, "table_properties": {"data_size": 2687659, "num_entries": 39600, "num_deletions": 0}}
2026/11/26-05:25:36.121279 4716 EVENT_LOG_v1 {"time_micros": 1795670736121116, "cf_name": "__system__", "job": 1, "event": "table_file_creation", "file_number": 9, "table_properties": {"data_size": 202, "num_entries": 9, "num_deletions": 0}}
2026/11/26-05:25:36.178437 4716 EVENT_LOG_v1 {"time_micros": 1795670736178420, "job": 1, "event": "recovery_finished"}
2026/11/26-05:25:39.121279 4716 EVENT_LOG_v1 {"time_micros": 1795670739121115, "cf_name": "default", "job": 2, "event": "table_file_creation", "file_number": 12, "table_properties": {"num_entries": 7}}
"""  # noqa: E501
POSTGRES = """\
2026-11-26 05:27:10.831 GMT [7141] LOG:  redo starts at 0/1500930
2026-11-26 05:27:10.901 GMT [7143] FATAL:  the database system is starting up
2026-11-26 05:27:11.730 GMT [7141] LOG:  redo done at 1/2FD7418 system usage: CPU: user: 0.08 s, system: 0.05 s, elapsed: 0.89 s
"""  # noqa: E501
MARIADB = """\
2026-11-26  5:28:16 0 [Note] InnoDB: Starting crash recovery from checkpoint LSN=45239
2026-11-26  5:28:17 0 [Note] InnoDB: End of log at LSN=15837564
"""


def test_what_rocksdb_replayed_and_nothing_that_it_wrote_later() -> None:
    assert rocksdb_recovery(ROCKSDB) == {"replay_seconds": 2.87344, "replayed_records": 39609.0}
    assert rocksdb_recovery(ROCKSDB.partition("recovery_finished")[0]) == {}


def test_what_servers_replayed() -> None:
    assert server_recovery(POSTGRES) == {"replayed_bytes": float(2**32 + 0x2FD7418 - 0x1500930), "replay_seconds": 0.89}
    assert server_recovery(MARIADB) == {"replayed_bytes": float(15837564 - 45239)}
    assert server_recovery("[Note] InnoDB: log sequence number 45450; transaction id 15") == {}


def test_transactions_wait_from_when_they_were_due(tmp_path: Path) -> None:
    """Ten each second that take 10 ms; 2 s without a server, then all that are due at once; the last has no answer."""
    lines = [{"crash": 5.0, "end": 5.1}, {"answer": 7.0}, {"rows": 50, "lost": 2}]
    (tmp_path / "stdout").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    dues = [count / 10 for count in range(101)]
    done = [f"{due} {due + 0.01 if not 5 <= due < 7 else 7.05:.2f}\n" for due in dues[:-1]]
    (tmp_path / "transactions").write_text("".join([*done, f"{dues[-1]} -\n"]))
    figures = parse(tmp_path, {})
    metrics = {name: round(value, 3) for name, value in figures.metrics.items()}
    assert metrics == {
        "rate_before": 10.0,
        "stop_seconds": 0.1,
        "first_answer_seconds": 2.0,
        "first_commit_seconds": 2.01,
        "regained_seconds": 2.01,
        "excess_latency_seconds": round(sum(7.05 - due - 0.01 for due in dues[50:70]), 3),
        "max_us": 2.05e6,
        "unanswered": 1.0,
        "rows_checked": 50.0,
        "rows_lost": 2.0,
        "operations": 100.0,
    }
    assert figures.qps[4:8] == [(5.0, 10.0), (6.0, 0.0), (7.0, 0.0), (8.0, 30.0)]
    assert figures.warnings == ["2 of 50 acknowledged rows are lost"]


def test_keys_of_db_bench_count_anew_after_it_was_opened_again(tmp_path: Path) -> None:
    lines = [
        *({"second": second / 2, "written": 100 * second} for second in range(1, 10)),
        {"crash": 4.5, "end": 4.6, "log_bytes": 90_000},
        {"answer": 6.0},
        {"rows": 900, "lost": 0},
        *({"second": 6 + second / 2, "written": 100 * second} for second in range(1, 5)),
    ]
    (tmp_path / "stdout").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    metrics = parse(tmp_path, {}).metrics
    assert metrics["operations"] == 1300
    assert metrics["rate_before"] == pytest.approx(800 / 4.5)
    assert metrics["regained_seconds"] == pytest.approx(2.0)
    assert metrics["replayed_bytes"] == 90_000


def test_an_output_that_ends_early_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text('{"crash": 5.0, "end": 5.1}\n')
    with pytest.raises(ParseError, match="stdout has no line of `answer`"):
        parse(tmp_path, {})
