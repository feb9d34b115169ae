"""Asks sources what they are now: the commits and checksums of a lock file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from stepgrid.build.command_runner import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.source import ResolvableSource
from stepgrid.build.sources import source_of
from stepgrid.build.task import Order
from stepgrid.language.sources import can_move, source_key, source_parts
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.model.site import Site
from stepgrid.plugins.engine import Built
from stepgrid.plugins.registry import engine

_SHA256 = 64  # digits


class MovingSource(NamedTuple):
    """A source that moves, with a build that takes it along, and the names of all that do, families too."""

    source: Mapping[str, Any]
    build: PlannedBuild
    names: Collection[str]


@dataclass(frozen=True, slots=True)
class Answers:
    """What the sources said, by the names that they have in a lock file."""

    pinned: dict[str, str] = field(default_factory=dict)  # that were not held before
    moved: dict[str, str] = field(default_factory=dict)  # that are not what they are held to
    failed: dict[str, str] = field(default_factory=dict)  # that gave no answer, and why


def wanted(plans: Iterable[Plan]) -> dict[str, MovingSource]:
    found: dict[str, MovingSource] = {}
    for plan in plans:
        for build in plan.builds:
            names = _names(plan, build)
            for source in filter(can_move, source_parts(build.source)):
                before = found[source_key(source)].names if source_key(source) in found else ()
                found[source_key(source)] = MovingSource(source, build, {*before, *names})
    return dict(sorted(found.items()))


def _names(plan: Plan, build: PlannedBuild) -> set[str]:
    """Of all builds of the spec that are this one, and of their families."""
    own = {build.name, *(cell.labels["build"] for cell in plan.cells if cell.build == build.id)}
    return own | {name.removesuffix(f"-{build.version}") for name in own}


def ask(asked: Mapping[str, MovingSource], held: Mapping[str, str], site: Site, say: Callable[[str], None]) -> Answers:
    """`say` is told what is looked at, which may take a while."""
    answers = Answers()
    for name, each in asked.items():
        say(name)
        try:
            now = resolve(each.source, each.build, site)
        except (BuildError, OSError) as error:
            answers.failed[name] = str(error)
            continue
        if name not in held:
            answers.pinned[name] = now
        elif held[name] != now:
            answers.moved[name] = now
    return answers


def resolve(source: Mapping[str, Any], build: PlannedBuild, site: Site) -> str:
    """As a lock file says it. A BuildError says why there is no answer."""
    route = source_of(source)
    with tempfile.TemporaryDirectory(prefix="stepgrid-lock-") as name:
        folder = Path(name)
        asking = cast(Built, engine(build.engine))  # nothing is built: its planning half will do
        order = Order(replace(build, pins={}), asking, folder, Commands(folder / "log", folder), site)
        return route.resolve(source, order) if isinstance(route, ResolvableSource) else _checksum(source, order)


def _checksum(source: Mapping[str, Any], order: Order) -> str:
    """Of what its own client fetches; nothing holds it to what it was before."""
    into = order.folder / "fetched"
    into.mkdir()
    material = source_of(source).fetch(source, into, order)
    digest = material.artifacts[0].digest if material.artifacts else ""
    if len(digest) != _SHA256:
        raise BuildError(f"{source_of(source).describe(source)} tells no checksum: nothing can be held to it")
    return f"sha256:{digest}"
