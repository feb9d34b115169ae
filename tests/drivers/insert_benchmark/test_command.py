from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid_databases.drivers.insert_benchmark import DRIVER
from stepgrid_databases.drivers.insert_benchmark.settings import Settings
from stepgrid_databases.drivers.sysbench.lua_client import MOST

PLACE = Path("/run/sockets")
MARIADB = Access("mariadb", PLACE, PLACE / "mysqld.sock", 3306, "stepgrid", "secret", "bench", "rocksdb")
POSTGRES = Access("postgres", PLACE, PLACE / ".s.PGSQL.5432", 5432, "stepgrid", "secret", "bench", "heap")
QUERY: dict[str, Any] = {"action": "query", "duration": 60.0, "insert_rate": 100, "clients": 4}


def _context(access: Access | None, seed: int = 41) -> Context:
    folder = Path("/attempt/steps/0-one")
    return Context({"sysbench": ("ld.so", "bin/sysbench")}, "11.8.6", Path("/data"), folder, seed, access)


def _options(access: Access = MARIADB, **given: Any) -> dict[str, str]:
    settings = Settings.model_validate(given).model_dump(mode="json")
    argv = DRIVER.command(settings, {}, _context(access)).argv
    return dict(word.removeprefix("--").split("=", 1) for word in argv if word.startswith("--"))


def test_the_whole_command() -> None:
    given = {"action": "load", "rows": 1000, "clients": 2, "rows_per_commit": 50, "table_options": "row_format=dynamic"}
    made = DRIVER.command(Settings.model_validate(given).model_dump(mode="json"), {}, _context(MARIADB))
    assert made.argv == (
        "ld.so",
        "bin/sysbench",
        "insert_benchmark.lua",
        "--db-driver=mysql",
        "--config-file=connection",
        "--mysql-socket=/run/sockets/mysqld.sock",
        "--mysql-user=stepgrid",
        "--mysql-db=bench",
        "--rand-seed=42",
        "--threads=3",
        "--time=31536000",
        "--events=0",
        "--action=load",
        "--rows-per-commit=50",
        "--deletes=off",
        "--query=range",
        "--rows-per-query=10",
        "--indexes=3",
        "--data-length-min=10",
        "--data-length-max=20",
        "--table-options=row_format=dynamic",
        "--clients=2",
        "--tables=2",
        "--roles=insert",
        "--rows=1000",
        "--seconds=0",
        "--storage-engine=rocksdb",
        "--anew=off",
        "run",
    )
    assert made.duration is None
    assert made.env == {"LUA_PATH": "./?.lua;;"}
    assert (made.files, made.secrets) == ({"connection": "mysql-password=secret\n"}, ("connection",))
    assert "secret" not in str((made.argv, made.env))


def test_how_each_server_is_reached() -> None:
    asked = _options(POSTGRES, action="load", rows=1)
    assert (asked["db-driver"], asked["pgsql-host"], asked["pgsql-port"]) == ("pgsql", "/run/sockets", "5432")
    assert "storage-engine" not in asked
    far = MARIADB._replace(host="db.example", port=3307, running=True)
    asked = _options(far, action="load", rows=1)
    assert (asked["mysql-host"], asked["mysql-port"], asked["anew"]) == ("db.example", "3307", "on")
    assert _options(far, action="insert", rows=1)["anew"] == "off"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (QUERY, ("insert,query", "9", "6000", "0")),
        ({**QUERY, "deletes": True}, ("insert,delete,query", "13", "6000", "0")),
        ({**QUERY, "ends": "clock"}, ("insert,query", "9", "0", "60")),
        ({**QUERY, "insert_rate": None}, ("query", "5", "0", "60")),
        ({**QUERY, "insert_rate": None, "deletes": True}, ("query", "5", "0", "60")),
        ({"action": "insert", "rows": 7, "deletes": True}, ("insert,delete", "3", "7", "0")),
        ({"action": "index", "first_rows": 5, "clients": 3}, ("insert", "4", "5", "0")),
        ({"action": "check"}, ("insert", "2", "0", "0")),
    ],
)
def test_a_thread_for_each_role_and_an_end(given: dict[str, Any], said: tuple[str, ...]) -> None:
    asked = _options(**given)
    assert tuple(asked[name] for name in ("roles", "threads", "rows", "seconds")) == said


@pytest.mark.parametrize(("given", "duration"), [(QUERY, None), ({**QUERY, "ends": "clock"}, 60.0)])
def test_rows_may_take_longer_than_the_duration(given: dict[str, Any], duration: float | None) -> None:
    settings = Settings.model_validate(given).model_dump(mode="json")
    assert DRIVER.command(settings, {}, _context(MARIADB)).duration == duration


@pytest.mark.parametrize(
    ("given", "rows"),
    [({"partitions": 4}, "250"), ({"partitions": 3, "clients": 2, "tables": 1}, "667"),
     ({"partitions": 4, "rows_per_partition": 9}, "9")],
)  # fmt: skip
def test_partitions(given: dict[str, Any], rows: str) -> None:
    asked = _options(action="load", rows=1000, **given)
    assert (asked["partitions"], asked["partition-rows"]) == (str(given["partitions"]), rows)


def test_what_each_connection_begins_with() -> None:
    asked = _options(action="load", rows=1, session=["set unique_checks = 0", "set rocksdb_bulk_load = 1"])
    assert asked["session"] == "set unique_checks = 0;set rocksdb_bulk_load = 1"


def test_a_seed_is_a_number_that_sysbench_takes() -> None:
    settings = Settings.model_validate({"action": "check"}).model_dump(mode="json")
    argv = DRIVER.command(settings, {}, _context(MARIADB, seed=MOST * 5 + 3)).argv
    assert "--rand-seed=4" in argv


def test_an_engine_that_is_no_server() -> None:
    settings = Settings.model_validate({"action": "check"}).model_dump(mode="json")
    with pytest.raises(ValueError, match=r"^it needs a server, and the engine of this build is none$"):
        DRIVER.command(settings, {}, _context(None))
