from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid_databases.drivers.linkbench import DRIVER
from stepgrid_databases.drivers.linkbench.settings import Settings

PLACE = Path("/run/sockets")
MARIADB = Access("mariadb", PLACE, PLACE / "mysqld.sock", 3306, "stepgrid", "secret", "bench", "rocksdb")
POSTGRES = Access("postgres", PLACE, PLACE / ".s.PGSQL.5432", 5432, "stepgrid", "secret", "bench", "heap")
REQUEST: dict[str, Any] = {"action": "request", "ids": 1000, "duration": 60.0, "requesters": 4}


def _command(access: Access | None, **given: Any) -> Any:
    folder = Path("/attempt/steps/0-one")
    context = Context({"sysbench": ("ld.so", "bin/sysbench")}, "11.8.6", Path("/data"), folder, 41, access)
    return DRIVER.command(Settings.model_validate(given).model_dump(mode="json"), {}, context)


def _options(access: Access = MARIADB, **given: Any) -> dict[str, str]:
    argv = _command(access, **given).argv
    return dict(word.removeprefix("--").split("=", 1) for word in argv if word.startswith("--"))


def test_a_load() -> None:
    made = _command(MARIADB, action="load", ids=1000, loaders=2, link_size=8, table_options="page_compressed=1")
    assert made.argv == (
        "ld.so", "bin/sysbench", "linkbench.lua", "--db-driver=mysql", "--config-file=connection",
        "--mysql-socket=/run/sockets/mysqld.sock", "--mysql-user=stepgrid", "--mysql-db=bench", "--rand-seed=42",
        "--threads=3", "--time=31536000", "--events=0", "--link-types=2", "--link-size=8",
        "--node-size=168", "--table-options=page_compressed=1", "--action=load", "--clients=2", "--seconds=0",
        "--storage-engine=rocksdb", "--anew=off", "--ids=1000", "run",
    )  # fmt: skip
    assert made.files == {"connection": "mysql-password=secret\n"}
    assert made.secrets == ("connection",)
    assert made.duration is None


def test_requests() -> None:
    found = _options(POSTGRES, **REQUEST, mix={"getnode": 90.0, "addnode": 10.0}, multiget={"most": 5})
    assert found["mix"] == "getnode:90.0,addnode:10.0"
    assert (found["threads"], found["clients"]) == ("5", "4")  # one reports
    assert found["seconds"] == "60"
    assert (found["read-exponent"], found["write-uncorrelated"]) == ("0.8", "95.0")
    assert (found["multiget-probability"], found["multiget-most"]) == ("0.382", "5")
    assert found["storage-engine"] == ""
    assert _command(POSTGRES, **REQUEST).duration == 60.0


def test_a_check_has_one_client() -> None:
    found = _options(action="check")
    assert (found["threads"], found["ids"]) == ("2", "0")
    assert "mix" not in found


def test_a_server_that_ran_before_may_have_the_tables() -> None:
    running = MARIADB._replace(running=True)
    assert _options(running, action="load", ids=5)["anew"] == "on"
    assert _options(running, **REQUEST)["anew"] == "off"


def test_without_a_server() -> None:
    with pytest.raises(ValueError, match=r"^it needs a server, and the engine of this build is none$"):
        _command(None, **REQUEST)
