import os
import shutil
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.git import GitSource, checkout, fetch_submodules
from stepgrid.build.job import remove_history
from stepgrid.build.recipe import Artifact
from stepgrid.model.site import Site
from tests.build.fetching import log, refused
from tests.build.ordering import order
from tests.build.repository import Repository
from tests.cases import rows


def resolved(repository, ref, tmp_path):
    source = {"git": repository.url, "ref": ref}
    return GitSource().resolve(source, order(tmp_path / "asked", source))


def test_the_tree_of_a_tag(fetch, repository):
    ref, commit = "v2", repository.git("rev-parse", "HEAD")
    material = fetch(ref)
    assert material.tree is not None
    assert (material.tree / "main.c").read_text() == "3\n"
    assert (material.tree / "src" / "deep.c").is_file()
    assert material.artifacts == (Artifact(repository.url, ref, commit),)
    assert material.quality == {"route": "source"}
    assert material.facts["commit"] == commit
    assert material.facts["commit_date"] == "2024-05-06T07:08:09+00:00"


@pytest.mark.parametrize("ref", ["{commit}", "{short}", "v2~1", "main^"])
def test_a_commit_without_a_name(ref, repository, tmp_path):
    commit = repository.git("rev-parse", "v2^")
    assert resolved(repository, ref.format(commit=commit, short=commit[:7]), tmp_path) == commit


def test_a_branch_of_the_remote_of_a_clone(repository, tmp_path):
    repository.git("update-ref", "refs/remotes/origin/main", "v2^")
    repository.git("update-ref", "refs/remotes/origin/topic", "v2^")
    for ref in ("origin/main", "topic"):
        assert resolved(repository, ref, tmp_path) == repository.git("rev-parse", "v2^")


def test_the_tree_of_a_commit_without_a_name(fetch, repository, tmp_path):
    commit = repository.git("rev-parse", "v2^")
    material = fetch("v2^")
    assert material.artifacts[0].digest == commit
    assert (tmp_path / "attempt" / "tree" / "main.c").read_text() == "2\n"
    assert sorted(path.name for path in (tmp_path / "attempt").iterdir()) == ["build.log", "tmp", "tree"]


def test_a_ref_that_is_not_there(fetch, repository):
    url = repository.url
    assert refused(fetch, "v22") == f"{url} has no tag, branch or commit v22; did you mean v2?"
    assert refused(fetch, "feedface") == f"{url} has no tag, branch or commit feedface"
    nowhere = "0" * 40
    assert refused(fetch, nowhere) == f"{url} has no commit {nowhere}: check it, or ask for a tag or a branch"


def test_a_repository_that_is_not_there(fetch, tmp_path):
    url = f"file://{tmp_path}/none"
    assert refused(fetch, "v1", url) == (
        f"git cannot read {url}: '{tmp_path}/none' does not appear to be a git repository; "
        "Could not read from remote repository: check the URL"
    )


def test_a_pin_holds_though_the_tag_has_moved(fetch, repository, tmp_path):
    old = repository.git("rev-parse", "v1^{commit}")
    repository.git("tag", "--force", "v1", "v2^{commit}")
    now = repository.git("rev-parse", "v2^{commit}")
    material = fetch("v1", pins=old)
    assert (material.artifacts[0].digest, material.facts["ref_is_now"]) == (old, now)
    assert (tmp_path / "attempt" / "tree" / "main.c").read_text() == "1\n"
    assert f"v1 is commit {now} by now; built is {old}, to which the lock file holds it\n" in log(tmp_path)


def test_the_site_file_says_where_it_is_really_from(fetch, repository, tmp_path):
    url = "https://example.org/a.git"
    material = fetch("v2", url, site=Site(mirrors={url: str(repository.folder)}))
    assert material.artifacts[0].name == url
    empty = Site(mirrors={url: f"{tmp_path}/none"})
    (tmp_path / "attempt").rename(tmp_path / "before")
    assert refused(fetch, "v2", url, site=empty).startswith(
        f"git cannot read {url} (by the site file: {tmp_path}/none): "
    )


@pytest.mark.parametrize(("url", "ref", "why"), rows(__file__, "nothing_is_taken_for_a_flag"))
def test_nothing_is_taken_for_a_flag(url, ref, why, fetch, tmp_path):
    canary = str(tmp_path / "canary")
    said = refused(fetch, ref.replace("CANARY", canary), url.replace("CANARY", canary))
    assert said.startswith("the source cannot be used: ")
    assert why.replace("CANARY", canary) in said
    assert not Path(canary).exists()
    assert not (tmp_path / "attempt" / "build.log").exists(), "no program was started"


def test_no_hook_and_no_filter_is_run(fetch, repository, tmp_path, monkeypatch):
    canary, home = tmp_path / "canary", tmp_path / "home"
    (home / "hooks").mkdir(parents=True)
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        (home / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {canary}\n")
        (home / "hooks" / hook).chmod(0o755)
    filters = f'[filter "x"]\n\tsmudge = touch {canary}; cat\n\tclean = cat\n\trequired = true\n'
    templates = f"[core]\n\thooksPath = {home}/hooks\n[init]\n\ttemplateDir = {home}\n"
    (home / ".gitconfig").write_text(filters + templates)
    monkeypatch.setenv("HOME", str(home))
    repository.commit("v4", **{".gitattributes": "main.c filter=x\n"})
    (repository.folder / ".gitattributes").write_text("main.c filter=x\n")
    repository.commit("v5")
    fetch("v5")
    assert (tmp_path / "attempt" / "tree" / "main.c").read_text() == "3\n"
    assert (tmp_path / "attempt" / "tree" / ".gitattributes").is_file()
    assert not canary.exists()


def test_a_password_of_the_site_file_is_in_no_log(fetch, tmp_path):
    url = "https://example.org/a.git"
    said = refused(fetch, "v1", url, site=Site(mirrors={url: "https://me:secret@127.0.0.1:1/a.git"}))
    assert said.startswith(f"git cannot read {url} (by the site file: https://***@127.0.0.1:1/a.git): ")
    assert said.endswith(
        ": check the network and its proxy, or name a mirror (`mirrors:` of the site file, docs/reference/running.md)"
    )
    assert "secret" not in said + log(tmp_path)


def test_a_host_that_says_nothing_is_not_waited_for(fetch, tmp_path, monkeypatch):
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\necho "ssh: Connection timed out" >&2\nexit 255\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = refused(fetch, "v1", "ssh://git@host.example/a.git")
    assert said.endswith(
        ": check the network and its proxy, or name a mirror (`mirrors:` of the site file, docs/reference/running.md)"
    )
    assert "-o ConnectTimeout=60 " in (tmp_path / "asked").read_text()


@pytest.fixture(scope="module")
def family(tmp_path_factory, origin):
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
def nested(tmp_path, family):
    """`outer`, to be changed."""
    shutil.rmtree(tmp_path / "origin", ignore_errors=True)  # git's objects cannot be written over, but by root
    shutil.copytree(family.folder.with_name("origin"), tmp_path / "origin", symlinks=True)
    return Repository.copied(family, tmp_path / "outer")


def test_submodules_are_there_when_asked_for(fetch, nested, family, tmp_path):
    material = fetch("v1", nested.url, submodules="true")
    tree = tmp_path / "attempt" / "tree"
    assert (tree / "third" / "party" / "main.c").read_text() == "3\n"
    assert (tree / "third" / "party" / "lib" / "inner.h").read_text() == "i\n"
    named = [(each.name, each.version) for each in material.artifacts[1:]]
    inner = f"file://{family.folder.with_name('inner')}"
    assert named == [(f"file://{tmp_path}/origin", "third/party"), (inner, "lib")]
    remove_history(tmp_path / "attempt")
    assert [*tree.rglob(".git")] == []


def test_a_submodule_on_this_machine_of_a_repository_that_is_elsewhere(fetch, nested):
    """It would copy what the user can read into a build."""
    url, there = "https://host.example/outer.git", nested.folder
    nested.git("config", "--file=.gitmodules", "submodule.third/party.url", "file:///srv/private")
    nested.commit("v2")
    assert refused(fetch, "v2", url, submodules="true", site=Site(mirrors={url: str(there)})) == (
        f"the submodule third/party of {url} is refused: "
        "file:///srv/private is on this machine, and the repository that names it is not"
    )


def test_a_submodule_behind_a_link(tmp_path, nested):
    """A tree that holds both has to be made by hand: what is removed for the submodule must be of the tree."""
    (tmp_path / "outside" / "party").mkdir(parents=True)
    asked = order(tmp_path / "attempt", {"git": nested.url, "ref": "v1"})
    git = checkout(asked, nested.url, nested.git("rev-parse", "HEAD"), tmp_path / "attempt" / "tree")
    shutil.rmtree(git.folder / "third")
    (git.folder / "third").symlink_to(tmp_path / "outside")
    with pytest.raises(BuildError, match=r"the submodule third/party of \S+ is refused: its path leads through a link"):
        fetch_submodules(asked, git, nested.url)
    assert (tmp_path / "outside" / "party").is_dir()


@pytest.mark.parametrize(("url", "why"), rows(__file__, "a_submodule_of_evil"))
def test_a_submodule_of_evil(url, why, fetch, nested, tmp_path):
    canary = str(tmp_path / "canary")
    nested.git("config", "--file=.gitmodules", "submodule.third/party.url", url.replace("CANARY", canary))
    nested.commit("v2")
    said = refused(fetch, "v2", nested.url, submodules="true")
    assert why.replace("CANARY", canary) in said
    assert not Path(canary).exists()
