"""A server's entry in the site file: what is missing, and how a server is reached by it."""

import pytest

from stepgrid.build import external_server
from stepgrid.build.error import BuildError
from stepgrid.build.job import check
from stepgrid.build.recipe import BuiltPrograms, load_source
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site, SiteServer
from stepgrid_databases.engines.mysql import MySQL
from tests.build.ordering import order
from tests.engines.told import Told

NAMED = SiteServer("u", "d", socket="/run/prod/mysqld.sock", password="secret")


def _build(engine="mysql", **source):
    return PlannedBuild("b-1", "prod", engine, "8.0.40", source or {"server": "prod"}, "a.yaml:2:9")


@pytest.mark.parametrize(
    ("site", "said"),
    [
        (Site(), "there is no site file that says how the server `prod` is reached: `servers: {prod: …}` in site.yaml"),
        (Site("/s.yaml"), "the site file /s.yaml has no `prod` under `servers`: it names none"),
        (
            Site("/s.yaml", servers={"prod1": NAMED, "test": NAMED}),
            "the site file /s.yaml has no `prod` under `servers`: did you mean `prod1`?",
        ),
    ],
)
def test_what_the_site_file_lacks(site, said):
    builds = [_build(), _build(system="mysqld")]
    assert external_server.missing_entries(builds, site) == [f"a.yaml:2:9: build prod: {said}"]


SOURCE = {"server": "prod"}
SITE = Site("site.yaml", servers={"prod": SiteServer("u", "d", host="db1")})
VARIABLES = [{"Variable_name": "version", "Value": "8.0.40"}, {"Variable_name": "max_connections", "Value": 151}]


@pytest.fixture
def answers(monkeypatch):
    asked = []

    def connect(_self, access):
        asked.append(access)
        return Told({"show global variables": VARIABLES})

    monkeypatch.setattr(MySQL, "connect", connect)
    return asked


def _order(folder, site=SITE, engine="mysql", version="8.0.40"):
    return order(folder, SOURCE, name="prod", engine=engine, version=version, site=site, where="a.yaml:2:9")


def _fetched(folder, **given):
    return load_source("server").fetch(SOURCE, folder, _order(folder, **given))


def test_another_version_than_the_spec_declares(tmp_path, answers):
    with pytest.raises(BuildError) as caught:
        check(_order(tmp_path, version="8.0.41"), _fetched(tmp_path), BuiltPrograms({}))
    declared = "the spec declares version 8.0.41 (a.yaml:2:9), the server says 8.0.40"
    assert str(caught.value) == f"{declared}: declare the version that it says"
