"""A small git repository with a history, and a fetch from it."""

import pytest

from stepgrid.build.recipe import load_source
from stepgrid.model.site import Site
from tests.build.ordering import order
from tests.build.repository import Repository


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """Three commits: v1, a nameless one, v2 which is main."""
    made = Repository(tmp_path_factory.mktemp("git") / "origin")
    made.commit("v1", main_c="1\n")
    made.commit(main_c="2\n")
    made.commit("v2", main_c="3\n", src__deep_c="x\n")
    return made


@pytest.fixture
def repository(tmp_path, origin):
    return Repository.copied(origin, tmp_path / "origin")


@pytest.fixture
def fetch(tmp_path, repository):
    def fetched(ref, url="", submodules="", pins=None, site=None):
        source = {"git": url or repository.url, "ref": ref, **({"submodules": submodules} if submodules else {})}
        folder = tmp_path / "attempt"
        asked = order(folder, source, pins={f"git {source['git']} {ref}": pins} if pins else {}, site=site or Site())
        return load_source("git").fetch(source, folder, asked)

    return fetched
