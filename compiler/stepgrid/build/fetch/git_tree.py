"""A commit of a repository as a tree of files, with its submodules."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.error import BuildError
from stepgrid.build.fetch.git import Git, complaint, place
from stepgrid.build.task import Order
from stepgrid.language.sources import source_faults

_ALL = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_GITLINK = re.compile(r"160000 commit ([0-9a-f]{40})\s+(.+)", re.DOTALL)
_DEEPEST = 10


class Submodule(NamedTuple):
    url: str  # as the tree that holds it means it
    path: str
    commit: str


def checkout(order: Order, url: str, commit: str, tree: Path) -> Git:
    """Only this commit is fetched, where the server gives a bare commit; else everything. `.git` stays."""
    where, told = place(order, url)
    git = Git(order, tree)
    git.init()
    shallow = git.run("fetch", "--quiet", "--depth=1", "--no-tags", "--", where, commit)
    if shallow.status:
        done = git.run("fetch", "--quiet", "--", where, *_ALL)
        if done.status:
            raise BuildError(f"git cannot fetch {told}: {complaint(done)}")
    there = git.run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    if there.status:
        raise BuildError(f"{told} has no commit {commit}{_gone(order, commit)}")
    git.check("checkout", "--quiet", "--force", "--detach", commit)
    return git


def _gone(order: Order, commit: str) -> str:
    """Branches are rewritten, and a server forgets what nothing leads to any more."""
    if commit not in order.build.pins.values():
        return ": check it, or ask for a tag or a branch"
    return ", to which the lock file holds it: `stepgrid lock SPEC --update` takes what its ref is now"


def submodules(order: Order, git: Git, url: str, depth: int = 0) -> list[Submodule]:
    """Fetches them into the tree, also those that they have; never by `git submodule`, which has its own mind."""
    if depth > _DEEPEST:
        raise BuildError(f"the submodules of {url} are nested more than {_DEEPEST} deep")
    found: list[Submodule] = []
    for module in _listed(git, url):
        folder = git.folder / module.path
        if folder.resolve() != git.folder.resolve() / module.path:
            raise BuildError(f"the submodule {module.path} of {url} is refused: its path leads through a link")
        shutil.rmtree(folder)
        inner = checkout(order, module.url, module.commit, folder)
        found += [module, *submodules(order, inner, module.url, depth + 1)]
    return found


def _listed(git: Git, url: str) -> Iterator[Submodule]:
    commits = _commits(git)
    if not commits:
        return
    said = _settings(git)
    paths = {said[key]: said.get(f"{key[: -len('.path')]}.url") for key in said if key.endswith(".path")}
    for path, commit in commits.items():
        given = paths.get(path)
        if given is None:
            raise BuildError(f"{url} has a submodule {path} and does not say where it is from")
        yield Submodule(_url(url, path, given), path, commit)


def _commits(git: Git) -> dict[str, str]:
    listed = git.check("ls-tree", "-r", "-z", "HEAD", quiet=True).split("\0")
    matches = (_GITLINK.fullmatch(line) for line in listed)
    return {match[2]: match[1] for match in matches if match}


def _settings(git: Git) -> Mapping[str, str]:
    done = git.run(
        "config", "--null", "--file=.gitmodules", "--no-includes", "--get-regexp", r"^submodule\.", quiet=True
    )
    entries = (entry.partition("\n") for entry in done.stdout.split("\0") if entry)
    return {key: value for key, _, value in entries}


def _url(parent: str, path: str, given: str) -> str:
    """A repository names them: what it says is checked like what a spec says."""
    url = given
    if given.startswith(("./", "../")):
        scheme, _, rest = parent.partition("://")
        url = f"{scheme}://{posixpath.normpath(posixpath.join(rest, given))}"
    for fault in source_faults({"git": url, "ref": "HEAD"}):
        raise BuildError(f"the submodule {path} of {parent} is refused: its URL {fault.message}")
    if url.startswith("file:") and not parent.startswith("file:"):
        why = f"{url} is on this machine, and the repository that names it is not"
        raise BuildError(f"the submodule {path} of {parent} is refused: {why}")
    return url
