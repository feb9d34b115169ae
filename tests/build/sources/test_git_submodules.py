import shutil
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.git import checkout, fetch_submodules
from stepgrid.build.job import remove_history
from stepgrid.model.site import Site
from tests.build.fetching import Fetch, refused
from tests.build.ordering import order
from tests.build.repository import Repository


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory, origin: Repository) -> Repository:
    """`outer` has `origin` as third/party, by a relative URL; and that has a submodule of its own."""
    folder = tmp_path_factory.mktemp("family")
    inner = Repository(folder / "inner")
    inner.commit(inner_h="i\n")
    middle = Repository.copied(origin, folder / "origin")
    middle.git("submodule", "--quiet", "add", inner.url, "lib")
    middle.commit()
    outer = Repository(folder / "outer")
    outer.commit(a_c="a\n")
    outer.git("submodule", "--quiet", "add", "../origin", "third/party")
    outer.commit("v1")
    return outer


@pytest.fixture
def nested(tmp_path: Path, family: Repository) -> Repository:
    """`outer`, to be changed."""
    shutil.rmtree(tmp_path / "origin", ignore_errors=True)  # git's objects cannot be written over, but by root
    shutil.copytree(family.folder.with_name("origin"), tmp_path / "origin", symlinks=True)
    return Repository.copied(family, tmp_path / "outer")


def test_submodules_are_there_when_asked_for(fetch: Fetch, nested: Repository, family: Repository, tmp_path: Path):
    material = fetch("v1", nested.url, submodules="true")
    tree = tmp_path / "attempt" / "tree"
    assert (tree / "third" / "party" / "main.c").read_text() == "3\n"
    assert (tree / "third" / "party" / "lib" / "inner.h").read_text() == "i\n"
    named = [(each.name, each.version) for each in material.artifacts[1:]]
    inner = f"file://{family.folder.with_name('inner')}"
    assert named == [(f"file://{tmp_path}/origin", "third/party"), (inner, "lib")]
    remove_history(tmp_path / "attempt")
    assert [*tree.rglob(".git")] == []


def test_a_submodule_on_this_machine_of_a_repository_that_is_elsewhere(fetch: Fetch, nested: Repository):
    """It would copy what the user can read into a build."""
    url, there = "https://host.example/outer.git", nested.folder
    nested.git("config", "--file=.gitmodules", "submodule.third/party.url", "file:///srv/private")
    nested.commit("v2")
    assert refused(fetch, "v2", url, submodules="true", site=Site(mirrors={url: str(there)})) == (
        f"the submodule third/party of {url} is refused: "
        "file:///srv/private is on this machine, and the repository that names it is not"
    )


def test_a_submodule_behind_a_link(tmp_path: Path, nested: Repository):
    """A tree that holds both has to be made by hand: what is removed for the submodule must be of the tree."""
    (tmp_path / "outside" / "party").mkdir(parents=True)
    asked = order(tmp_path / "attempt", {"git": nested.url, "ref": "v1"})
    git = checkout(asked, nested.url, nested.git("rev-parse", "HEAD"), tmp_path / "attempt" / "tree")
    shutil.rmtree(git.folder / "third")
    (git.folder / "third").symlink_to(tmp_path / "outside")
    with pytest.raises(BuildError, match=r"the submodule third/party of \S+ is refused: its path leads through a link"):
        fetch_submodules(asked, git, nested.url)
    assert (tmp_path / "outside" / "party").is_dir()


def test_submodules_that_are_not_asked_for(fetch: Fetch, nested: Repository, tmp_path: Path):
    assert len(fetch("v1", nested.url).artifacts) == 1
    assert [*(tmp_path / "attempt" / "tree" / "third" / "party").iterdir()] == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("--upload-pack=touch CANARY", "`git: --upload-pack=touch CANARY` begins with `-`"),
        ("ext::sh -c touch% CANARY", "`git: ext::sh -c touch% CANARY` is not a URL"),
        ("../../../../../../../../-x", "does not appear to be a git repository"),
    ],
)
def test_a_submodule_of_evil(url: str, why: str, fetch: Fetch, nested: Repository, tmp_path: Path):
    canary = str(tmp_path / "canary")
    nested.git("config", "--file=.gitmodules", "submodule.third/party.url", url.replace("CANARY", canary))
    nested.commit("v2")
    said = refused(fetch, "v2", nested.url, submodules="true")
    assert why.replace("CANARY", canary) in said
    assert not Path(canary).exists()


def test_a_submodule_without_a_url(fetch: Fetch, nested: Repository):
    nested.git("rm", "--quiet", "--cached", ".gitmodules")
    (nested.folder / ".gitmodules").unlink()
    nested.commit("v2")
    expected = f"{nested.url} has a submodule third/party and does not say where it is from"
    assert refused(fetch, "v2", nested.url, submodules="true") == expected
