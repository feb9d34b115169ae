"""Where a client of mysqld connects to, and what MySQL 8.0.40 and MariaDB 11.8.6 say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pymysql
import pytest

from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.server import Access
from stepgrid_databases.engines.mysqld import connection
from stepgrid_databases.engines.mysqld.connection import connect, effective, is_same_value
from tests.engines.told import Told

ACCESS = Access("mysql", Path("/s"), Path("/s/mysqld.sock"), 3306, "u", "secret", "d", "innodb")


class _Made:
    """A connection as the library has it."""

    def __init__(self, **given: Any) -> None:
        self.given, self.asked, self.description = given, list[str](), None

    def cursor(self) -> _Made:
        return self

    def __enter__(self) -> _Made:
        return self

    def __exit__(self, *_: object) -> None: ...

    def execute(self, sql: str) -> None:
        self.asked.append(sql)

    def nextset(self) -> bool:
        return False


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[_Made]:
    found: list[_Made] = []

    def connected(**given: Any) -> _Made:
        found.append(_Made(**given))
        return found[-1]

    monkeypatch.setattr(pymysql, "connect", connected)
    return found


def test_ours_by_its_socket(made: list[_Made]) -> None:
    connect(ACCESS)
    assert made[0].given["unix_socket"] == "/s/mysqld.sock"
    assert "host" not in made[0].given
    assert made[0].asked == []


def test_one_that_ran_before_by_its_host_and_other_databases_are_not_ours(made: list[_Made]) -> None:
    connect(ACCESS._replace(host="db1", port=3307, running=True))
    assert (made[0].given["host"], made[0].given["port"]) == ("db1", 3307)
    assert "unix_socket" not in made[0].given
    assert made[0].asked == ["SET @stepgrid_others = 'not ours'"]


def _variables(**values: str) -> dict[str, list[Any]]:
    return {"show global variables": [{"Variable_name": name, "Value": value} for name, value in values.items()]}


MYSQL = _variables(
    version="8.0.40-debug",
    version_comment="Source distribution",
    version_compile_os="Linux",
    version_compile_machine="x86_64",
    innodb_buffer_pool_size="134217728",
)
MARIADB = _variables(version="11.8.6-MariaDB-0+deb13u1-log", version_comment="Debian n/a")


def test_what_it_is() -> None:
    found = connection.described(Told(MYSQL), "mysql")
    assert (found.identity.version, found.identity.assertions) == ("8.0.40", True)
    assert found.identity.warnings == ("this is a debug build: assertions and checks make it slow",)
    assert found.identity.facts == {"said": "8.0.40-debug Source distribution", "for": "Linux on x86_64"}
    option = found.options["innodb_buffer_pool_size"]
    assert (option.type, option.default) == ("", "134217728")
    maria = connection.described(Told(MARIADB), "mariadb").identity
    assert (maria.version, maria.warnings, maria.assertions) == ("11.8.6", (), False)


@pytest.mark.parametrize(
    ("variables", "engine", "said"),
    [
        (MYSQL, "mariadb", "it is MySQL 8.0.40-debug, and the build's engine is mariadb"),
        (MARIADB, "mysql", "it is MariaDB 11.8.6-MariaDB-0+deb13u1-log, and the build's engine is mysql"),
        ({}, "mysql", "it is MySQL of no version, and the build's engine is mysql"),
    ],
)
def test_another_engines(variables: dict[str, list[Any]], engine: str, said: str) -> None:
    with pytest.raises(IdentityError) as caught:
        connection.described(Told(variables), engine)
    assert str(caught.value) == said


class Said:
    def __init__(self, **values: Any) -> None:
        self.values = values

    def query(self, sql: str) -> list[Mapping[str, Any]]:
        return [{"Variable_name": name, "Value": value} for name, value in self.values.items()]

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("asked", "found", "alike"),
    [
        ("ON", "1", True),
        ("1", "ON", True),
        ("OFF", "ON", False),
        ("64M", "67108864", True),
        ("67108864", "67108864", True),
        ("50", "100", False),
        ("0.5", "0.500000", True),
        ("fsync", "fsync", True),
        ("O_DIRECT", "o_direct", True),
        ("quick", "fsync", False),
        ("mrr=on", "index_merge=on,mrr=on", True),
        ("mrr=on", "index_merge=on,mrr=off", False),
        ("binlog", "ON", True),  # log_bin: a name
        ("a/b.log", "/data/a/b.log", True),
        ("STRICT_TRANS_TABLES,NO_ZERO_DATE", "NO_ZERO_DATE,STRICT_TRANS_TABLES", True),
    ],
)
def test_what_counts_as_what_was_asked_for(asked: str, found: str, alike: bool) -> None:
    assert is_same_value(asked, found) is alike


def test_what_was_clamped_is_told_and_what_is_not_shown_is_not() -> None:
    running = Said(innodb_io_capacity_max="100", log_bin="OFF", autocommit="ON", sql_mode="")
    asked = {
        "innodb_io_capacity_max": 50,
        "skip-log-bin": True,
        "loose_autocommit": True,
        "no_variable": 1,
        "sql_mode": "ANSI",
    }
    found = effective(running, asked)
    assert found.values["log_bin"] == "OFF"
    assert found.differs == {
        "innodb_io_capacity_max": "it is 100 in the running server, and not 50 as asked for",
        "sql_mode": "it is empty in the running server, and not ANSI as asked for",
    }
