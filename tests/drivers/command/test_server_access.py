from __future__ import annotations

from pathlib import Path

from stepgrid.plugins.driver import Context
from stepgrid.plugins.registry import require_runner
from stepgrid.plugins.server import Access

MARIADB = Access("mariadb", Path("/s"), Path("/s/mysqld.sock"), 3306, "u", "secret", "d", "innodb")
POSTGRES = Access("postgres", Path("/s"), Path("/s/.s.PGSQL.5432"), 5432, "u", "secret", "d", "heap")
SETTINGS = {"argv": ("{program:mariadb}", "-u{user}", "--socket={socket}", "{database}"), "duration": None}


def _context(server: Access | None) -> Context:
    return Context({"mariadb": ("/b/mariadb",)}, "1", Path("/data"), Path("/step"), 1, server)


def test_a_client_of_mysql() -> None:
    made = require_runner("command").command(SETTINGS, {}, _context(MARIADB))
    assert made.argv == ("/b/mariadb", "-uu", "--socket=/s/mysqld.sock", "d")
    assert made.env == {"MYSQL_UNIX_PORT": "/s/mysqld.sock", "MYSQL_PWD": "secret"}


def test_a_client_of_postgres() -> None:
    made = require_runner("command").command({**SETTINGS, "argv": ("psql", "-p{port}")}, {}, _context(POSTGRES))
    assert made.argv == ("psql", "-p5432")
    names = {"PGHOST": "/s", "PGPORT": "5432", "PGUSER": "u", "PGPASSWORD": "secret", "PGDATABASE": "d"}
    assert made.env == names


def test_a_server_that_is_reached_by_its_host() -> None:
    given = {**SETTINGS, "argv": ("psql", "-h{host}", "-p{port}")}
    made = require_runner("command").command(given, {}, _context(POSTGRES._replace(host="db1")))
    assert (made.argv, made.env["PGHOST"]) == (("psql", "-hdb1", "-p5432"), "db1")
    other = require_runner("command").command(given, {}, _context(MARIADB._replace(host="db1")))
    assert other.env == {"MYSQL_HOST": "db1", "MYSQL_TCP_PORT": "3306", "MYSQL_PWD": "secret"}


def test_without_a_server_nothing_is_told() -> None:
    made = require_runner("command").command({**SETTINGS, "argv": ("echo", "{user}")}, {}, _context(None))
    assert (made.argv, made.env) == (("echo", "{user}"), {})
