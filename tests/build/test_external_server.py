"""A server's entry in the site file: what is missing, and how a server is reached by it."""

from pathlib import Path
from typing import Any

import pytest

from stepgrid.build import external_server
from stepgrid.build.error import BuildError
from stepgrid.build.job import check
from stepgrid.build.recipe import BuiltPrograms, Material, load_source
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site, SiteServer
from stepgrid.plugins.server import Access, Connection
from stepgrid_databases.engines.mysql import MySQL
from tests.build.ordering import order
from tests.engines.told import Told

NAMED = SiteServer("u", "d", socket="/run/prod/mysqld.sock", password="secret")


def _build(engine: str = "mysql", **source: str) -> PlannedBuild:
    return PlannedBuild("b-1", "prod", engine, "8.0.40", source or {"server": "prod"}, "a.yaml:2:9")


@pytest.mark.parametrize(
    ("site", "said"),
    [
        (
            Site(),
            "there is no site file that says how the server `prod` is reached: `servers: {prod: …}` in site.yaml",
        ),
        (Site("/s.yaml"), "the site file /s.yaml has no `prod` under `servers`: it names none"),
        (
            Site("/s.yaml", servers={"prod1": NAMED, "test": NAMED}),
            "the site file /s.yaml has no `prod` under `servers`: did you mean `prod1`?",
        ),
    ],
)
def test_what_the_site_file_lacks(site: Site, said: str) -> None:
    builds = [_build(), _build(system="mysqld")]
    assert external_server.missing_entries(builds, site) == [f"a.yaml:2:9: build prod: {said}"]


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


def test_another_version_than_the_spec_declares(tmp_path: Path, answers: list[Access]) -> None:
    with pytest.raises(BuildError) as caught:
        check(_order(tmp_path, version="8.0.41"), _fetched(tmp_path), BuiltPrograms({}))
    declared = "the spec declares version 8.0.41 (a.yaml:2:9), the server says 8.0.40"
    assert str(caught.value) == f"{declared}: declare the version that it says"
