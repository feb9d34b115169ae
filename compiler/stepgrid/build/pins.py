"""Pins: contents of local programs and trees, and the commits and checksums of a lock file."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.local import chosen_files
from stepgrid.build.recipe import Order, ResolvableSource, source_of
from stepgrid.host.files import sha256
from stepgrid.language import files
from stepgrid.language.files import TreeRecord, tree_checksum, tree_mark
from stepgrid.language.sources import can_move, local_files, source_key, source_parts
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.model.site import Site
from stepgrid.plugins.engine import Built
from stepgrid.plugins.registry import engine

MISSING = "not found"
_SHA256_DIGITS = 64


def pin(source: Mapping[str, Any]) -> str:
    """Return the content of a system's program or of a local tree; other sources are pinned by the lock file."""
    if "system" in source:
        return _pin_program(str(source["system"]))
    return _pin_tree(str(source["path"]), local_files(source)) if "path" in source else ""


def _pin_program(name: str) -> str:
    path = shutil.which(name)
    # the build reports a missing program; one that is installed later is another build
    digest = MISSING if path is None else sha256(path)
    files.record_program(name, digest)
    return digest


def _pin_tree(path: str, names: Sequence[str]) -> str:
    root, mark, digest = Path(path), "", MISSING
    try:
        chosen = chosen_files(root, names)
        mark = tree_mark(root, time.time_ns(), chosen)  # before it is read: what changes meanwhile is noticed
        digest = tree_checksum(root, chosen)
    except OSError:
        pass  # its build says so
    files.record_tree(TreeRecord(path, tuple(names), mark, digest))
    return digest


def is_same_tree(tree: TreeRecord) -> bool:
    """Tell whether a tree is what `pin` saw, without reading one that was not touched."""
    root = Path(tree.path)
    try:
        if tree.mark and tree_mark(root, time.time_ns(), chosen_files(root, tree.files)) == tree.mark:
            return True
    except OSError:
        return tree.pin == MISSING
    return _pin_tree(tree.path, tree.files) == tree.pin


class MovingSource(NamedTuple):
    """A source that moves, one build of it, and the names of all its builds and of their families."""

    source: Mapping[str, Any]
    build: PlannedBuild
    names: Collection[str]


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of the sources by their names in a lock file."""

    pinned: dict[str, str] = field(default_factory=dict)  # that were not held before
    moved: dict[str, str] = field(default_factory=dict)  # that are not what they are held to
    failed: dict[str, str] = field(default_factory=dict)  # that gave no answer, and why


def moving_sources(plans: Iterable[Plan]) -> dict[str, MovingSource]:
    sources: dict[str, MovingSource] = {}
    for plan in plans:
        for build in plan.builds:
            names = {build.name, *(cell.labels["build"] for cell in plan.cells if cell.build == build.id)}
            names |= {name.removesuffix(f"-{build.version}") for name in names}
            for source in filter(can_move, source_parts(build.source)):
                earlier = sources[source_key(source)].names if source_key(source) in sources else ()
                sources[source_key(source)] = MovingSource(source, build, {*earlier, *names})
    return dict(sorted(sources.items()))


def resolve_all(
    sources: Mapping[str, MovingSource], pins: Mapping[str, str], site: Site, report: Callable[[str], None]
) -> Answers:
    """Ask sources what they are now; `report` gets the name of each before it is asked, which may take a while."""
    answers = Answers()
    for name, moving in sources.items():
        report(name)
        try:
            current = resolve(moving.source, moving.build, site)
        except (BuildError, OSError) as error:
            answers.failed[name] = str(error)
            continue
        if name not in pins:
            answers.pinned[name] = current
        elif pins[name] != current:
            answers.moved[name] = current
    return answers


def resolve(source: Mapping[str, Any], build: PlannedBuild, site: Site) -> str:
    """Return the pin that a lock file holds for a source now. A BuildError says why there is no answer."""
    route = source_of(source)
    with tempfile.TemporaryDirectory(prefix="stepgrid-lock-") as name:
        folder = Path(name)
        planning = cast(Built, engine(build.engine))  # nothing is built: its planning half will do
        order = Order(replace(build, pins={}), planning, folder, Commands(folder / "log", folder), site)
        if isinstance(route, ResolvableSource):
            return route.resolve(source, order)
        into = folder / "fetched"
        into.mkdir()
        artifacts = route.fetch(source, into, order).artifacts  # nothing holds it to what it was before
    digest = artifacts[0].digest if artifacts else ""
    if len(digest) != _SHA256_DIGITS:
        raise BuildError(f"{route.describe(source)} tells no checksum: nothing can be held to it")
    return f"sha256:{digest}"
