"""What PostgreSQL 17.11 said, of more lines."""

from __future__ import annotations

from stepgrid.plugins.engines import served
from tests.engines.told import Told

OURS = "/attempt/server/postgresql.conf"
SETTINGS = [
    {"name": "shared_buffers", "value": "64MB", "source": "configuration file", "sourcefile": OURS},
    {"name": "work_mem", "value": "8MB", "source": "configuration file", "sourcefile": "/d/postgresql.auto.conf"},
    {"name": "jit", "value": "on", "source": "database", "sourcefile": None},
    {"name": "wal_buffers", "value": "2MB", "source": "override", "sourcefile": None},
    {"name": "autovacuum", "value": "on", "source": "default", "sourcefile": None},
]


def test_what_comes_after_what_was_asked_for() -> None:
    postgres = served("postgres")
    assert postgres is not None
    asked = {"shared_buffers": "64MB", "work_mem": "4MB", "jit": "off", "wal_buffers": -1}
    found = postgres.effective(Told({"pg_settings": SETTINGS}), asked)
    assert found.values["autovacuum"] == "on"
    assert found.differs == {
        "work_mem": "it is 8MB: /d/postgresql.auto.conf comes after what was asked for",
        "jit": "it is on: database comes after what was asked for",
    }


def test_counters_are_those_of_the_views_that_it_has() -> None:
    postgres = served("postgres")
    assert postgres is not None
    wal = {"seen": {"wal_bytes": 81568000, "wal_fpi": 12, "stats_reset": "2026-11-20"}}
    database = {"seen": {"datid": 16385, "xact_commit": 7, "temp_bytes": 0, "datname": "stepgrid"}}
    there = [{"relname": "pg_stat_wal"}, {"relname": "pg_stat_database"}]
    connection = Told({"FROM pg_class": there, "FROM pg_stat_wal": [wal], "FROM pg_stat_database": [database]})
    assert postgres.counters(connection) == {
        "pg_stat_database.temp_bytes": 0,
        "pg_stat_database.xact_commit": 7,
        "pg_stat_wal.wal_bytes": 81568000,
        "pg_stat_wal.wal_fpi": 12,
    }
    assert connection.asked[1].endswith("WHERE datname = current_database()")
