from __future__ import annotations

import subprocess
import sys

import pytest

from stepgrid.engines.mysqld.server import MysqldServing
from stepgrid.plugins.drivers import kinds
from stepgrid.plugins.engines import buildable, building, engine, names, served, unrunnable


def test_an_unknown_engine_says_how_to_install_it() -> None:
    expected = "^engine `rocksbd` is not installed; `pip install PACKAGE` adds one "
    with pytest.raises(LookupError, match=expected):
        engine("rocksbd")


@pytest.mark.parametrize("name", names())
def test_every_engine_has_what_the_protocol_asks_for(name: str) -> None:
    found = engine(name)
    assert found.name == name
    assert set(found.kinds) <= set(kinds())
    assert "command" in found.kinds
    assert all("*" in pattern for pattern in found.immutable)
    assert found.default_storage_engine in found.storage_engines
    assert found.server == ("sysbench" in found.kinds)
    assert set(found.reserved.values()) <= {"", "storage_engine"}


@pytest.mark.parametrize("name", names())
def test_every_kind_runs_on_some_engine(name: str) -> None:
    assert {kind for other in names() for kind in engine(other).kinds} == set(kinds())


@pytest.mark.parametrize("name", names())
def test_an_engine_has_all_of_the_building_half_or_nothing(name: str) -> None:
    found = engine(name)
    parts = ("programs", "identify", "catalogue")
    assert {hasattr(found, part) for part in parts} == {buildable(name) is not None}


def test_an_engine_that_is_built_is_given_whole() -> None:
    assert building("rocksdb") is buildable("rocksdb") is engine("rocksdb")
    assert building("rocksdb").programs == ("db_bench",)


def test_an_engine_that_is_only_declared_says_so() -> None:
    for name in (name for name in names() if buildable(name) is None):
        with pytest.raises(LookupError) as caught:
            building(name)
        assert str(caught.value) == f"this version checks and plans the engine {name}; it cannot build it yet"


def test_servers_are_run_by_their_running_half() -> None:
    servers = [name for name in names() if engine(name).server]
    assert servers == ["mariadb", "mysql", "postgres"]
    assert unrunnable(names()) == ()
    assert [name for name in names() if served(name) is not None] == servers


def test_a_server_without_a_running_half_is_only_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(MysqldServing, "serve")
    assert unrunnable(["mysql", "rocksdb", "mysql"]) == ("mysql",)
    assert served("mysql") is None


def test_planning_pays_for_no_heavy_import() -> None:
    program = (
        "import sys; from stepgrid.plugins.engines import engine, names; [engine(name) for name in names()]; "
        "print([m for m in ('pydantic', 'duckdb', 'jinja2', 'subprocess', 'snakemake') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
