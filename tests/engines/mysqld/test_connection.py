"""Where a client of mysqld connects to."""

from pathlib import Path

import pymysql
import pytest

from stepgrid.plugins.server import Access
from stepgrid_databases.engines.mysqld.connection import connect

ACCESS = Access("mysql", Path("/s"), Path("/s/mysqld.sock"), 3306, "u", "secret", "d", "innodb")


class _Made:
    """A connection as the library has it."""

    def __init__(self, **given):
        self.given, self.asked, self.description = given, list[str](), None

    def cursor(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_): ...

    def execute(self, sql):
        self.asked.append(sql)

    def nextset(self):
        return False


@pytest.fixture
def made(monkeypatch):
    found = []

    def connected(**given):
        found.append(_Made(**given))
        return found[-1]

    monkeypatch.setattr(pymysql, "connect", connected)
    return found


def test_ours_by_its_socket(made):
    connect(ACCESS)
    assert made[0].given["unix_socket"] == "/s/mysqld.sock"
    assert "host" not in made[0].given
    assert made[0].asked == []


def test_one_that_ran_before_by_its_host_and_other_databases_are_not_ours(made):
    connect(ACCESS._replace(host="db1", port=3307, running=True))
    assert (made[0].given["host"], made[0].given["port"]) == ("db1", 3307)
    assert "unix_socket" not in made[0].given
    assert made[0].asked == ["SET @stepgrid_others = 'not ours'"]
