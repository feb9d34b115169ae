"""What PostgreSQL 17.11 says of itself, of more rows."""

from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import ServerStart
from stepgrid_databases.engines.postgres import connection
from tests.engines.told import Told


def test_since_when_and_by_which_process() -> None:
    row = {"seconds": 5.5, "pid": 99, "data": None}  # whose data is where is not everybody's to know
    assert connection.since(Told({"pg_backend_pid": [row]})) == ServerStart(5.5, 99, None)


OURS = "/attempt/server/postgresql.conf"
OVERRIDDEN = [
    {"name": "shared_buffers", "value": "64MB", "source": "configuration file", "sourcefile": OURS},
    {"name": "work_mem", "value": "8MB", "source": "configuration file", "sourcefile": "/d/postgresql.auto.conf"},
    {"name": "jit", "value": "on", "source": "database", "sourcefile": None},
    {"name": "wal_buffers", "value": "2MB", "source": "override", "sourcefile": None},
    {"name": "autovacuum", "value": "on", "source": "default", "sourcefile": None},
]


def test_what_comes_after_what_was_asked_for() -> None:
    postgres = server_engine("postgres")
    assert postgres is not None
    asked = {"shared_buffers": "64MB", "work_mem": "4MB", "jit": "off", "wal_buffers": -1}
    found = postgres.effective(Told({"pg_settings": OVERRIDDEN}), asked)
    assert found.values["autovacuum"] == "on"
    assert found.differs == {
        "work_mem": "it is 8MB: /d/postgresql.auto.conf comes after what was asked for",
        "jit": "it is on: database comes after what was asked for",
    }


def test_counters_are_those_of_the_views_that_it_has() -> None:
    postgres = server_engine("postgres")
    assert postgres is not None
    wal = {"seen": {"wal_bytes": 81568000, "wal_fpi": 12, "stats_reset": "2026-11-20"}}
    database = {"seen": {"datid": 16385, "xact_commit": 7, "temp_bytes": 0, "datname": "stepgrid"}}
    there = [{"name": "pg_stat_wal"}, {"name": "pg_stat_database"}]
    connection = Told({"FROM pg_class": there, "FROM pg_stat_wal": [wal], "FROM pg_stat_database": [database]})
    assert postgres.counters(connection) == {
        "pg_stat_database.temp_bytes": 0,
        "pg_stat_database.xact_commit": 7,
        "pg_stat_wal.wal_bytes": 81568000,
        "pg_stat_wal.wal_fpi": 12,
    }
    assert connection.asked[1].endswith("WHERE datname = current_database()")
