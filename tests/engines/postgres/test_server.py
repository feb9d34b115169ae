import os
import pwd
from pathlib import Path

from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Access, ServerHome, ServerStart
from stepgrid_databases.engines.postgres import connection
from tests.engines.told import Told

SOCKETS = Path("/run/user/7/s")
ACCESS = Access("postgres", SOCKETS, SOCKETS / ".s.PGSQL.5432", 5432, "stepgrid", "secret", "stepgrid", "heap")
PROGRAMS = {"postgres": ("/b/ld.so", "/b/postgres"), "initdb": ("/b/initdb",)}
HOME = ServerHome(PROGRAMS, "17.11", Path("/live/data"), Path("/attempt/server"), ACCESS)
CONFIGURATION = """\
# What the steps ask for; what is said twice holds as it is said last. The log says when there are events.
log_checkpoints = 'on'
log_autovacuum_min_duration = '100ms'
shared_buffers = '64MB'
jit = 'off'
max_connections = '200'

# where the server is found: nothing of this can be an option
listen_addresses = ''
unix_socket_directories = '/run/user/7/s'
port = '5432'
hba_file = '/attempt/server/pg_hba.conf'
ident_file = '/attempt/server/pg_ident.conf'
lc_messages = 'C'
"""
ACCOUNT = pwd.getpwuid(os.geteuid()).pw_name


def test_the_configuration():
    postgres = server_engine("postgres")
    assert postgres is not None
    options = {"shared_buffers": "64MB", "jit": False, "max_connections": 200}
    files = postgres.configuration(HOME, options)
    assert files["postgresql.conf"] == CONFIGURATION
    assert [line for line in files["pg_hba.conf"].splitlines() if not line.startswith("#")] == [
        "local all stepgrid_owner peer map=runner",
        "local all all scram-sha-256",
        "local replication all scram-sha-256",
    ]
    assert files["pg_ident.conf"].splitlines()[1:] == [f'runner "{ACCOUNT}" stepgrid_owner']
    assert not any("secret" in text for text in files.values())


def test_the_commands():
    postgres = server_engine("postgres")
    (made,) = postgres.initialize(HOME)
    assert made.argv == (
        "/b/initdb",
        "--pgdata=/live/data",
        "--username=stepgrid_owner",
        "--auth-local=peer",
        "--auth-host=reject",
        "--locale=C",
        "--encoding=UTF8",
    )
    assert postgres.prepare(HOME) == ()
    assert postgres.serve(HOME).argv == (
        *("/b/ld.so", "/b/postgres", "-D", "/live/data"),
        *("-c", "config_file=/attempt/server/postgresql.conf"),
    )
    assert (postgres.socket, postgres.stop.name) == (f".s.PGSQL.{postgres.port}", "SIGINT")


def test_since_when_and_by_which_process():
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


def test_what_comes_after_what_was_asked_for():
    postgres = server_engine("postgres")
    assert postgres is not None
    asked = {"shared_buffers": "64MB", "work_mem": "4MB", "jit": "off", "wal_buffers": -1}
    found = postgres.effective(Told({"pg_settings": OVERRIDDEN}), asked)
    assert found.values["autovacuum"] == "on"
    assert found.differs == {
        "work_mem": "it is 8MB: /d/postgresql.auto.conf comes after what was asked for",
        "jit": "it is on: database comes after what was asked for",
    }


def test_counters_are_those_of_the_views_that_it_has():
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
