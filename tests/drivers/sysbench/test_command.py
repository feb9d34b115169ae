from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.drivers.sysbench import DRIVER
from stepgrid.drivers.sysbench.command import command
from stepgrid.drivers.sysbench.lua_client import MOST
from stepgrid.drivers.sysbench.settings import Settings
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access

PLACE = Path("/run/sockets")
MARIADB = Access("mariadb", PLACE, PLACE / "mysqld.sock", 3306, "stepgrid", "secret", "bench", "rocksdb")
POSTGRES = Access("postgres", PLACE, PLACE / ".s.PGSQL.5432", 5432, "stepgrid", "secret", "bench", "heap")
REACHING = (
    "--db-driver=mysql",
    "--config-file=connection",
    "--mysql-socket=/run/sockets/mysqld.sock",
    "--mysql-user=stepgrid",
    "--mysql-db=bench",
)


def _context(access: Access | None, seed: int = 41) -> Context:
    folder = Path("/attempt/steps/0-one")
    return Context({"sysbench": ("ld.so", "bin/sysbench")}, "11.8.6", Path("/data"), folder, seed, access)


def _settings(**given: Any) -> dict[str, Any]:
    return Settings.model_validate({"rows": 1000, **given}).model_dump(mode="json")


def test_the_whole_command() -> None:
    made = command(_settings(lua="range", duration=3.0, threads=4, index="si", covered=False), _context(MARIADB))
    assert made.argv == (
        "ld.so",
        "bin/sysbench",
        "range.lua",
        *REACHING,
        "--rand-seed=42",
        "--threads=4",
        "--report-interval=1",
        "--histogram=on",
        "--time=3",
        "--table-size=1000",
        "--covered=off",
        "--index=si",
        "run",
    )
    assert made.duration == 3.0
    assert made.env == {"LUA_PATH": "./?.lua;;"}


def test_a_rate_is_asked_of_all_threads_together() -> None:
    settings = _settings(lua="point_query", duration=3.0, threads=4, rate=500)
    assert "--rate=500" in command(settings, _context(MARIADB)).argv
    assert DRIVER.targets(settings) == {"target_transactions_per_s": 500.0}
    assert DRIVER.targets(_settings(lua="point_query", duration=3.0)) == {}


def test_the_password_is_in_a_file_and_nowhere_else() -> None:
    for access, text in ((MARIADB, "mysql-password=secret\n"), (POSTGRES, "pgsql-password=secret\n")):
        made = command(_settings(lua="point_query", duration=3.0), _context(access))
        assert (made.files, made.secrets) == ({"connection": text}, ("connection",))
        assert "secret" not in str((made.argv, made.env))


def test_postgres_is_reached_by_the_folder_of_its_socket() -> None:
    argv = command(_settings(lua="scan", duration=3.0), _context(POSTGRES)).argv
    assert {"--db-driver=pgsql", "--pgsql-host=/run/sockets", "--pgsql-port=5432"} <= set(argv)


def test_a_load_has_the_tables_engine_and_no_end_of_its_own() -> None:
    given = _settings(lua="load", tables=8, threads=4, primary_key=False, table_options="row_format=compressed")
    made = command(given, _context(MARIADB))
    assert made.duration is None
    assert made.argv[made.argv.index("--time=0") :] == (
        "--time=0",
        "--events=8004",
        "--tables=8",
        "--table-size=1000",
        "--primary-key=off",
        "--table-options=row_format=compressed",
        "--batch=1000",
        "--storage-engine=rocksdb",
        "run",
    )
    assert "--storage-engine=heap" not in command(given, _context(POSTGRES)).argv


def test_events_are_counted_without_a_time() -> None:
    argv = command(_settings(lua="scan", events=8), _context(MARIADB)).argv
    assert argv[argv.index("--time=0") + 1] == "--events=8"


def test_statements_that_are_not_prepared() -> None:
    argv = command(_settings(lua="scan", events=8, prepared=False), _context(MARIADB)).argv
    assert "--db-ps-mode=disable" in argv


def test_a_file_of_ones_own_is_told_what_it_asks_for() -> None:
    given = _settings(lua="a/mine.lua", duration=1.0, distribution="pareto", arguments={"skip-trx": True, "share": 0.5})
    argv = command(given, _context(MARIADB)).argv
    assert argv[2] == "main.lua"
    assert {"--skip-trx=on", "--share=0.5", "--rand-type=pareto", "--storage-engine=rocksdb"} <= set(argv)
    zipfian = command(_settings(lua="mine.lua", duration=1.0, distribution="zipfian"), _context(MARIADB)).argv
    assert not [word for word in zipfian if word.startswith("--rand-type")]
    assert "--distribution=zipfian" in zipfian


@pytest.mark.parametrize("seed", [0, MOST - 1, MOST, 2**63])
def test_a_seed_is_never_0_which_would_be_the_time(seed: int) -> None:
    argv = command(_settings(lua="scan", events=1), _context(MARIADB, seed)).argv
    (word,) = [word for word in argv if word.startswith("--rand-seed=")]
    assert 1 <= int(word.partition("=")[2]) <= MOST


def test_without_a_server_there_is_nothing_to_ask() -> None:
    with pytest.raises(ValueError, match=r"^it needs a server, and the engine of this build is none$"):
        command(_settings(lua="scan", events=1), _context(None))


def test_a_server_that_ran_before_is_reached_by_its_host_and_loaded_anew() -> None:
    running = MARIADB._replace(host="db1", running=True)
    made = command(_settings(lua="load", threads=2), _context(running))
    assert made.argv[2:7] == (
        "again.lua", "--db-driver=mysql", "--config-file=connection", "--mysql-host=db1", "--mysql-port=3306",
    )  # fmt: skip
    assert "DROP TABLE IF EXISTS sbtest%d" in made.files["again.lua"]
    asked = command(_settings(lua="scan", duration=1.0), _context(POSTGRES._replace(host="db1", running=True)))
    assert {"--pgsql-host=db1", "--pgsql-port=5432", "scan.lua"} <= set(asked.argv)
    assert asked.files.keys() == {"connection"}
