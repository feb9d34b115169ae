"""A server's entry in the site file: what is missing, and how a server is reached by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.build import external_server
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site, SiteServer
from stepgrid.plugins.server import Access

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


def test_one_that_is_named_is_not_lacking() -> None:
    assert external_server.missing_entries([_build()], Site(servers={"prod": NAMED})) == []


def test_mysql() -> None:
    socket = Path("/run/prod/mysqld.sock")
    found = external_server.access(_build(), NAMED)
    assert found == Access("mysql", socket.parent, socket, 3306, "u", "secret", "d", "innodb", "", True)
    other = external_server.access(_build(), SiteServer("u", "d", host="localhost", port=3307), "rocksdb")
    assert (other.host, other.port, other.password, other.storage_engine) == ("127.0.0.1", 3307, "", "rocksdb")


@pytest.mark.parametrize(
    ("socket", "port", "found", "number"),
    [
        ("/run/postgresql", None, "/run/postgresql/.s.PGSQL.5432", 5432),
        ("/run/postgresql", 5433, "/run/postgresql/.s.PGSQL.5433", 5433),
        ("/run/postgresql/.s.PGSQL.5434", None, "/run/postgresql/.s.PGSQL.5434", 5434),
    ],
)
def test_postgres(socket: str, port: int | None, found: str, number: int) -> None:
    made = external_server.access(_build("postgres"), SiteServer("u", "d", socket=socket, port=port))
    assert (str(made.sockets), str(made.socket), made.port) == ("/run/postgresql", found, number)


def test_a_password_is_read_when_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "word").write_text("secret words\n")
    named = SiteServer("u", "d", host="db1", password_file=str(tmp_path / "word"))
    assert external_server.access(_build(), named).password == "secret words"
    assert "secret" not in repr(NAMED)
