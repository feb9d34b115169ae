"""What a search asks of the repository of a build: which commits there are, and what one changed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from stepgrid.bisect.request import Candidate, SearchError
from stepgrid.build import git
from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Order
from stepgrid.language.site import current_site
from stepgrid.model.plan import PlannedBuild
from stepgrid.plugins.engine import Built, VersionedTrees
from stepgrid.plugins.registry import engine

GIT = "git"
_DIGITS = 10  # of a commit, in a name
_Answer = TypeVar("_Answer")


def commit(build: PlannedBuild, ref: str) -> str:
    return _asked(build, lambda order, url: git.commit_of(order, url, ref))


def candidates(build: PlannedBuild, good: str, bad: str) -> list[Candidate]:
    of = engine(build.engine)
    versions = of if isinstance(of, VersionedTrees) else None
    found = _asked(build, lambda order, url: git.commits(order, url, good, bad, versions))
    return [Candidate(each.id[:_DIGITS], each.id, each.date, each.subject, each.version) for each in found]


def changes(build: PlannedBuild, commit: str) -> str:
    return _asked(build, lambda order, url: git.changes(order, url, commit))


def _asked(build: PlannedBuild, ask: Callable[[Order, str], _Answer]) -> _Answer:
    """SearchError says why there is no answer."""
    with tempfile.TemporaryDirectory(prefix="stepgrid-bisect-") as name:
        folder = Path(name)
        asking = cast(Built, engine(build.engine))  # nothing is built: its planning half will do
        order = Order(replace(build, pins={}), asking, folder, Commands(folder / "log", folder), current_site())
        try:
            return ask(order, str(build.source[GIT]))
        except (BuildError, OSError) as error:
            raise SearchError(str(error)) from None
