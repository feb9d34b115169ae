"""What the logs of engines say of a recovery, and what transactions that were due meanwhile waited."""

from stepgrid_databases.drivers.crash.parser import rocksdb_recovery, server_recovery

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


def test_what_rocksdb_replayed_and_nothing_that_it_wrote_later():
    assert rocksdb_recovery(ROCKSDB) == {"replay_seconds": 2.87344, "replayed_records": 39609.0}
    assert rocksdb_recovery(ROCKSDB.partition("recovery_finished")[0]) == {}


def test_what_servers_replayed():
    assert server_recovery(POSTGRES) == {"replayed_bytes": float(2**32 + 0x2FD7418 - 0x1500930), "replay_seconds": 0.89}
    assert server_recovery(MARIADB) == {"replayed_bytes": float(15837564 - 45239)}
    assert server_recovery("[Note] InnoDB: log sequence number 45450; transaction id 15") == {}
