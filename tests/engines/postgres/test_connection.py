"""What PostgreSQL 17.11 says of itself, of more rows."""

from __future__ import annotations

from typing import Any

import pytest

from stepgrid.plugins.engine import IdentityError, OptionInfo
from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import ServerStart
from stepgrid_databases.engines.postgres import connection
from tests.engines.told import Told


def _row(name: str, setting: str, vartype: str, unit: str = "", shown: str = "", **more: Any) -> dict[str, Any]:
    known = {"unit": unit or None, "min_val": None, "max_val": None, "enumvals": None, "short_desc": "", **more}
    return {"name": name, "setting": setting, "shown": shown or setting, "vartype": vartype, **known}


SETTINGS = [
    _row("server_version", "17.11 (Debian 17.11-1)", "string"),
    _row("debug_assertions", "off", "bool"),
    _row("block_size", "8192", "integer"),
    _row("shared_buffers", "16384", "integer", "8kB", "128MB", min_val="16", max_val="1073741823", short_desc="Sets."),
    _row("checkpoint_timeout", "300", "integer", "s", "5min"),
    _row("wal_level", "replica", "enum", enumvals=["minimal", "replica", "logical"]),
    _row("random_page_cost", "4", "real"),
]
ANSWERS: dict[str, list[Any]] = {"FROM pg_settings": SETTINGS, "version()": [{"version": "PostgreSQL 17.11 on x86_64"}]}


def test_what_it_is() -> None:
    found = connection.described(Told(ANSWERS))
    assert (found.identity.version, found.identity.warnings, found.identity.assertions) == ("17.11", (), False)
    assert found.identity.facts == {"said": "PostgreSQL 17.11 on x86_64", "block size": "8192"}
    assert found.options["shared_buffers"] == OptionInfo(
        "shared_buffers", "number", "16384", "Sets.", "16", "1073741823"
    )
    assert found.options["wal_level"].choices == ("minimal", "replica", "logical")


def test_what_says_no_version_is_none() -> None:
    with pytest.raises(IdentityError, match="it does not say which version it is"):
        connection.described(Told({}))


def test_since_when_and_by_which_process() -> None:
    row = {"seconds": 5.5, "pid": 99, "data": None}  # whose data is where is not everybody's to know
    assert connection.since(Told({"pg_backend_pid": [row]})) == ServerStart(5.5, 99, None)


def test_what_was_asked_for_is_compared_by_value() -> None:
    asked = {
        "shared_buffers": "128MB", "checkpoint_timeout": "300000ms", "wal_level": "REPLICA", "random_page_cost": "4.0",
        "debug_assertions": False, "block_size": 8192, "not_there": 1,
    }  # fmt: skip
    assert connection.compared(Told(ANSWERS), asked).differs == {}
    other = {"shared_buffers": 131072, "checkpoint_timeout": "5", "wal_level": "logical", "debug_assertions": True}
    found = connection.compared(Told(ANSWERS), other)
    assert found.values["shared_buffers"] == "128MB"
    assert found.differs == {
        "shared_buffers": "it is 128MB in the running server, and not 131072 as asked for",
        "checkpoint_timeout": "it is 5min in the running server, and not 5 as asked for",
        "wal_level": "it is replica in the running server, and not logical as asked for",
        "debug_assertions": "it is off in the running server, and not on as asked for",
    }


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
