"""Pins: contents of local programs and trees, and the commits and checksums of a lock file."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, cast

from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.git import work_tree_files
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
# names of files and folders that are no part of a program: dot files, caches, what editors leave
_NO_PARTS = (".*", "__pycache__", "node_modules", "*.pyc", "*~", "*.swp", "#*#")


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


def chosen_files(root: Path, names: Sequence[str]) -> dict[str, Path] | None:
    """Find the files that names of files and folders mean, by their names below the root; None: all of it.

    A file that is named counts, whatever it is called; of a folder its dot files, caches, and what git ignores do not.
    """
    if not names:
        return None
    chosen: dict[str, Path] = {}
    for name in names:
        path = root / name
        if path.is_dir():
            inner = [str(PurePosixPath(name, file)) for file in _folder_files(path)]
            chosen |= {file: root / file for file in inner}
        else:
            chosen[name] = path.resolve(strict=True)  # a link is what it leads to
    return chosen


def _folder_files(folder: Path) -> Iterator[str]:
    """Yield names of files and links of a program's folder; git knows best, unless it ignores all of the folder."""
    for name in work_tree_files(folder) or _walk(folder):
        path = folder / name
        if any(fnmatch(part, pattern) for part in PurePosixPath(name).parts for pattern in _NO_PARTS):
            continue
        if path.is_dir() and not path.is_symlink():  # a work tree within, such as a submodule
            yield from (f"{name.rstrip('/')}/{inner}" for inner in _folder_files(path))
        elif path.is_symlink() or path.is_file():  # git lists files that were removed, too
            yield name


def _walk(folder: Path) -> Iterator[str]:
    for parent, folders, plain_files in os.walk(folder):
        folders[:] = [name for name in folders if not any(fnmatch(name, pattern) for pattern in _NO_PARTS)]
        links = [name for name in folders if Path(parent, name).is_symlink()]
        yield from (os.path.relpath(Path(parent, name), folder) for name in (*plain_files, *links))


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
