"""The commits between two refs of a repository, and what one of them changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stepgrid.build.error import BuildError
from stepgrid.build.fetch.git import Git, place
from stepgrid.build.fetch.git_history import commit_in, history
from stepgrid.build.task import Order
from stepgrid.plugins.engine import VersionedTrees

_FIELDS = "%H%x09%cs%x09%s"
_DIGITS = 12


class Commit(NamedTuple):
    id: str
    date: str
    subject: str
    version: str = ""  # as its tree says it


def commits(order: Order, url: str, first: str, last: str, versions: VersionedTrees | None = None) -> list[Commit]:
    """From `first` to `last`, oldest first; of a branch that was merged, its merge alone."""
    with history(order, url, "blob:none" if versions else "tree:0") as git:
        start, end = _known(git, order, url, first), _known(git, order, url, last)
        _refuse_apart(git, (first, start), (last, end))
        walk = ("log", "--first-parent", "--reverse", f"--format={_FIELDS}", f"{start}..{end}")
        said = [git.check("log", "--no-walk", f"--format={_FIELDS}", start, quiet=True), git.check(*walk, quiet=True)]
        found = [Commit(*line.split("\t", 2)) for line in "".join(said).splitlines()]
        return list(_with_versions(git, found, versions)) if versions else found


def _with_versions(git: Git, commits: Sequence[Commit], versions: VersionedTrees) -> Iterator[Commit]:
    """Only where the file changes it is read."""
    walk = ("log", "--first-parent", "--format=%H", f"{commits[0].id}..{commits[-1].id}", "--", versions.version_file)
    changing = {commits[0].id, *git.check(*walk, quiet=True).split()}
    version = ""
    for commit in commits:
        if commit.id in changing:
            shown = git.run("show", f"{commit.id}:{versions.version_file}", quiet=True)
            version = "" if shown.status else versions.version_in(shown.stdout)
        yield commit._replace(version=version)


def changes(order: Order, url: str, commit: str) -> str:
    """Who changed which files, and why; of a merge, against the branch that it was merged into."""
    with history(order, url) as git:
        about = git.check("show", "--no-patch", "--no-show-signature", "--format=medium", commit)
        files = git.check("show", "--first-parent", "--diff-merges=first-parent", "--stat=100", "--format=", commit)
    return f"{about.rstrip()}\n\n{files.rstrip()}"


def _known(git: Git, order: Order, url: str, ref: str) -> str:
    found = commit_in(git, ref)
    if found is None:
        raise BuildError(f"{place(order, url)[1]} has no tag, branch or commit `{ref}`")
    return found


def _refuse_apart(git: Git, first: tuple[str, str], last: tuple[str, str]) -> None:
    if first[1] == last[1]:
        raise BuildError(f"`{first[0]}` and `{last[0]}` are the same commit, {first[1][:_DIGITS]}")
    if git.run("merge-base", "--is-ancestor", first[1], last[1]).status:
        shared = git.run("merge-base", first[1], last[1]).stdout.strip()
        hint = f": their last common commit is {shared[:_DIGITS]}" if shared else ""
        hint = f": it comes after `{last[0]}`" if shared == last[1] else hint
        raise BuildError(f"`{first[0]}` is no ancestor of `{last[0]}`{hint}")
