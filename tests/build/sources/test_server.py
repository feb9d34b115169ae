"""A server that already runs as a source: asked what it is, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.job import check
from stepgrid.build.recipe import BuiltPrograms, Material, load_source
from stepgrid.engines.mysql import MySQL
from stepgrid.model.site import Site, SiteServer
from stepgrid.plugins.registry import require_builder
from stepgrid.plugins.server import Access, Connection
from tests.build.ordering import order, recipe_of
from tests.engines.told import Told

SOURCE = {"server": "prod"}
SITE = Site("site.yaml", servers={"prod": SiteServer("u", "d", host="db1")})
VARIABLES: list[Any] = [
    {"Variable_name": "version", "Value": "8.0.40"},
    {"Variable_name": "max_connections", "Value": 151},
]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Access]:
    asked: list[Access] = []

    def connect(_self: object, access: Access) -> Connection:
        asked.append(access)
        return Told({"show global variables": VARIABLES})

    monkeypatch.setattr(MySQL, "connect", connect)
    return asked


def _order(folder: Path, site: Site = SITE, engine: str = "mysql", version: str = "8.0.40") -> Any:
    return order(folder, SOURCE, name="prod", engine=engine, version=version, site=site, where="a.yaml:2:9")


def _fetched(folder: Path, **given: Any) -> Material:
    return load_source("server").fetch(SOURCE, folder, _order(folder, **given))


def test_nothing_is_fetched_or_made(tmp_path: Path, answers: list[Access]) -> None:
    ordered = _order(tmp_path)
    recipe = recipe_of(ordered.build)
    assert recipe is not None
    material = _fetched(tmp_path)
    assert recipe.make(ordered, material) == BuiltPrograms({})
    assert material.quality == {
        "route": "server", "server": "prod", "compiler": "unknown", "optimisation": "unknown", "march": "unknown",
    }  # fmt: skip
    assert {(access.host, access.port, access.running) for access in answers} == {("db1", 3306, True)}
    assert require_builder("mysql").programs  # which it need not have
    assert load_source("server").describe(SOURCE) == "server prod"


def test_its_variables_are_the_catalogue(tmp_path: Path, answers: list[Access]) -> None:
    checked = check(_order(tmp_path), _fetched(tmp_path), BuiltPrograms({}))
    known: Mapping[str, Any] = checked.catalogue or {}
    assert checked.identity.version == "8.0.40"
    assert {name: option.default for name, option in known.items()} == {"version": "8.0.40", "max_connections": "151"}


def test_another_version_than_the_spec_declares(tmp_path: Path, answers: list[Access]) -> None:
    with pytest.raises(BuildError) as caught:
        check(_order(tmp_path, version="8.0.41"), _fetched(tmp_path), BuiltPrograms({}))
    declared = "the spec declares version 8.0.41 (a.yaml:2:9), the server says 8.0.40"
    assert str(caught.value) == f"{declared}: declare the version that it says"


def test_a_server_of_another_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[Access]) -> None:
    maria: list[Any] = [{"Variable_name": "version", "Value": "11.8.6-MariaDB"}]
    monkeypatch.setattr(MySQL, "connect", lambda *_: Told({"show global variables": maria}))
    said = "the server `prod` is not the build's: it is MariaDB 11.8.6-MariaDB, and the build's engine is mysql"
    with pytest.raises(BuildError) as caught:
        _fetched(tmp_path)
    assert str(caught.value) == said


def test_one_that_no_site_file_names(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        _fetched(tmp_path, site=Site("site.yaml"))
    said = "a.yaml:2:9: build prod: the site file site.yaml has no `prod` under `servers`: it names none"
    assert str(caught.value) == said


def test_one_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPGRID_READY", "0")
    site = Site("site.yaml", servers={"prod": SiteServer("u", "d", socket=str(tmp_path / "none"))})
    with pytest.raises(BuildError) as caught:
        _fetched(tmp_path, site=site)
    said = "Can't connect to MySQL server on 'localhost' ([Errno 2] No such file or directory)"
    assert str(caught.value) == f"the server `prod` ({tmp_path}/none) cannot be reached: {said}"
