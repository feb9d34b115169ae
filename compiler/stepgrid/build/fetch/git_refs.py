"""Which commit a ref of a repository is now. Never more is fetched for that than the history."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stepgrid.build.error import BuildError
from stepgrid.build.fetch.git import COMMIT, Git, complaint, place
from stepgrid.build.fetch.git_history import commit_in, history
from stepgrid.build.task import Order

_PLACED = frozenset("^~@{")  # a commit by its place beside another
_SHORT = re.compile(r"[0-9a-f]{4,39}")


def commit_of(order: Order, url: str, ref: str) -> str:
    """An abbreviated commit, `REF^` and `REF~2` are refs too. A BuildError says why there is no answer."""
    if COMMIT.fullmatch(ref):
        return ref
    listed = _listed(order, url)
    found = _advertised(listed, ref)
    if found is None and (_PLACED & set(ref) or _SHORT.fullmatch(ref)):
        found = _by_history(order, url, ref)
    if found is None:
        raise BuildError(f"{url} has no tag, branch or commit {ref}{_nearest(ref, listed)}")
    return found


def _listed(order: Order, url: str) -> dict[str, str]:
    where, told = place(order, url)
    done = Git(order, order.folder).run("ls-remote", "--", where, quiet=True)
    if done.status:
        raise BuildError(f"git cannot read {told}: {complaint(done)}")
    rows = (line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)
    return {name: commit for commit, name in rows if COMMIT.fullmatch(commit)}


def _advertised(listed: Mapping[str, str], ref: str) -> str | None:
    """In the order in which git itself reads a short name; of a tag the commit that it is of."""
    names = (ref, f"refs/{ref}", f"refs/tags/{ref}", f"refs/heads/{ref}")
    return next((listed[each] for name in names for each in (f"{name}^{{}}", name) if each in listed), None)


def _by_history(order: Order, url: str, ref: str) -> str | None:
    with history(order, url) as git:
        return commit_in(git, ref)


def _nearest(ref: str, listed: Mapping[str, str]) -> str:
    from difflib import get_close_matches

    known = [re.sub(r"^refs/(tags|heads)/|\^\{\}$", "", name) for name in listed]
    return "".join(f"; did you mean {match}?" for match in get_close_matches(ref, dict.fromkeys(known), 1))
