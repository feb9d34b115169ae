from __future__ import annotations

import inspect

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import ROUTES, Source, load_source, source_of

DECLARED = {
    "debian": {"debian": "rocksdb-tools", "suite": "trixie"},
    "system": {"system": "db_bench"},
    "git": {"git": "https://host.example/a.git", "ref": "v1"},
    "tarball": {"tarball": "https://host.example/a.tgz", "sha256": "0" * 64},
    "maven": {"maven": "a.b:c:1", "classifier": "linux64"},
    "crate": {"crate": "a", "version": "1"},
    "pypi": {"pypi": "a", "version": "1"},
    "debian-source": {"debian-source": "gflags", "suite": "bookworm"},
    "path": {"path": "../a"},
    "server": {"server": "prod"},
}


@pytest.mark.parametrize("route", ROUTES)
def test_every_source_keeps_the_protocol(route: str):
    found = load_source(route)
    assert found.route == route
    assert source_of(DECLARED[route]) is found
    assert found.describe(DECLARED[route]).startswith(f"{route} ")
    for name in ("describe", "fetch"):
        assert inspect.signature(getattr(type(found), name)) == inspect.signature(getattr(Source, name))


@pytest.mark.parametrize(
    ("declared", "given"),
    [({}, "nothing"), ({"svn": "x"}, "svn"), ({"debian": "a", "system": "b"}, "debian, system")],
)
def test_one_source_each(declared: dict[str, str], given: str):
    with pytest.raises(BuildError) as caught:
        source_of(declared)
    routes = "debian, system, git, tarball, maven, crate, pypi, debian-source, path, server"
    assert str(caught.value) == f"a source has exactly one of the keys {routes}; this one has {given}"
