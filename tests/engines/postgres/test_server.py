import os
import pwd
from pathlib import Path

from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Access, ServerHome

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


def test_the_configuration() -> None:
    postgres = server_engine("postgres")
    assert postgres is not None
    options = {"shared_buffers": "64MB", "jit": False, "max_connections": 200}
    files = postgres.configuration(HOME, options)
    assert files["postgresql.conf"] == CONFIGURATION
    assert files["pg_hba.conf"].splitlines()[1:] == [
        "local all stepgrid_owner peer map=runner",
        "local all all scram-sha-256",
    ]
    assert files["pg_ident.conf"].splitlines()[1:] == [f'runner "{ACCOUNT}" stepgrid_owner']
    assert not any("secret" in text for text in files.values())


def test_the_commands() -> None:
    postgres = server_engine("postgres")
    assert postgres is not None
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
