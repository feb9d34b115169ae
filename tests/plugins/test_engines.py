from __future__ import annotations

import subprocess
import sys

import pytest

from stepgrid.engines.mysqld.server import MysqldServing
from stepgrid.plugins.registry import (
    DRIVERS,
    ENGINES,
    builder,
    engine,
    require_builder,
    server_engine,
    unrunnable_engines,
)


def test_an_unknown_engine_says_how_to_install_it() -> None:
    expected = "^engine `rocksbd` is not installed; `pip install PACKAGE` adds one "
    with pytest.raises(LookupError, match=expected):
        engine("rocksbd")


@pytest.mark.parametrize("name", ENGINES.names())
def test_every_engine_has_what_the_protocol_asks_for(name: str) -> None:
    found = engine(name)
    assert found.name == name
    assert set(found.kinds) <= set(DRIVERS.names())
    assert "command" in found.kinds
    assert all("*" in pattern for pattern in found.immutable)
    assert found.default_storage_engine in found.storage_engines
    assert found.server == ("sysbench" in found.kinds)
    assert set(found.reserved.values()) <= {"", "storage_engine"}


@pytest.mark.parametrize("name", ENGINES.names())
def test_every_kind_runs_on_some_engine(name: str) -> None:
    assert {kind for other in ENGINES.names() for kind in engine(other).kinds} == set(DRIVERS.names())


@pytest.mark.parametrize("name", ENGINES.names())
def test_an_engine_has_all_of_the_building_half_or_nothing(name: str) -> None:
    found = engine(name)
    parts = ("programs", "identify", "catalogue")
    assert {hasattr(found, part) for part in parts} == {builder(name) is not None}


def test_an_engine_that_is_built_is_given_whole() -> None:
    assert require_builder("rocksdb") is builder("rocksdb") is engine("rocksdb")
    assert require_builder("rocksdb").programs == ("db_bench",)


def test_an_engine_that_is_only_declared_says_so() -> None:
    for name in (name for name in ENGINES.names() if builder(name) is None):
        with pytest.raises(LookupError) as caught:
            require_builder(name)
        assert str(caught.value) == f"this version checks and plans the engine {name}; it cannot build it yet"


def test_servers_are_run_by_their_running_half() -> None:
    servers = [name for name in ENGINES.names() if engine(name).server]
    assert servers == ["mariadb", "mysql", "postgres"]
    assert unrunnable_engines(ENGINES.names()) == ()
    assert [name for name in ENGINES.names() if server_engine(name) is not None] == servers


def test_a_server_without_a_running_half_is_only_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(MysqldServing, "serve")
    assert unrunnable_engines(["mysql", "rocksdb", "mysql"]) == ("mysql",)
    assert server_engine("mysql") is None


def test_planning_pays_for_no_heavy_import() -> None:
    program = (
        "import sys; from stepgrid.plugins.registry import ENGINES; [ENGINES.get(name) for name in ENGINES.names()]; "
        "print([m for m in ('pydantic', 'duckdb', 'jinja2', 'subprocess', 'snakemake') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
