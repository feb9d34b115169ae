"""Sources as they are now: contents of local programs and trees, and what a lock file holds of all others.

A lock file has the commits and checksums of sources that move, and the releases that answer `versions: {newest: …}`."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from msgspec import Struct

from stepgrid.build.error import BuildError
from stepgrid.build.git import is_ignored, work_tree_files
from stepgrid.build.recipe import ListedSource, ResolvableSource, asking, source_of
from stepgrid.host.files import write_text
from stepgrid.language import files, lock_file
from stepgrid.language.files import TreeRecord, tree_checksum, tree_mark
from stepgrid.language.lock_file import Releases
from stepgrid.language.problems import Problems, SpecError
from stepgrid.language.scalars import Version
from stepgrid.language.sources import (
    WHOLE,
    ReleaseQuestion,
    local_files,
    release_text,
    source_faults,
    source_key,
)
from stepgrid.model.plan import PlannedBuild, listed_texts
from stepgrid.model.records import Json
from stepgrid.model.site import Site
from stepgrid.store.paths import StorePaths

MISSING = "not found"
_SHA256_DIGITS = 64
# names of files and folders that are no part of a program: dot files, caches, what editors leave
_NO_PARTS = (".*", "__pycache__", "node_modules", "*.pyc", "*~", "*.swp", "#*#")


def pin(source: Mapping[str, Json]) -> str:
    """Return the content of a system's program or of a local tree; other sources are pinned by the lock file."""
    if "system" in source:
        return _pin_program(str(source["system"]))
    return _pin_tree(str(source["path"]), local_files(source)) if "path" in source else ""


def _pin_program(name: str) -> str:
    path = shutil.which(name)
    # the build reports a missing program; one that is installed later is another build
    digest = MISSING
    if path is not None:
        with suppress(OSError):  # its build says so
            digest = files.file_checksum(path)
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


IGNORE_LINE = "/outputs/"
IGNORE_HINT = f"add the line `{IGNORE_LINE}` to .gitignore in the folder that has outputs/"
_APART = "give the program a folder of its own (`path: src`), or name its `files`"


def keep_apart(source: Mapping[str, Json], outputs: Path) -> str:
    """Say how to keep outputs/, which each stage changes, out of a local tree; empty where it is no part of it."""
    names, folder = local_files(source) if "path" in source else (), outputs.resolve()
    holders = [Path(str(source["path"]), name).resolve() for name in names or (WHOLE,)] if "path" in source else []
    for holder in (holder for holder in holders if folder.is_relative_to(holder)):
        parts = folder.relative_to(holder).parts
        if not names:
            return "start stepgrid in a folder that is not part of the tree"
        if any(fnmatch(part, pattern) for part in parts for pattern in _NO_PARTS):
            continue
        if not work_tree_files(holder):
            return _APART
        if not is_ignored(StorePaths(folder).attempts_of("any")):
            return f"{IGNORE_HINT}; or {_APART}"
    return ""


# Pins of a lock file: commits and checksums of sources that move


def resolve(source: Mapping[str, Json], build: PlannedBuild, site: Site) -> str:
    """Return the pin that a lock file holds for a source now. A BuildError says why there is no answer."""
    route = source_of(source)
    with asking(build, site) as order:
        if isinstance(route, ResolvableSource):
            return route.resolve(source, order)
        into = order.folder / "fetched"
        into.mkdir()
        artifacts = route.fetch(source, into, order).artifacts  # nothing holds it to what it was before
    digest = artifacts[0].digest if artifacts else ""
    if len(digest) != _SHA256_DIGITS:
        raise BuildError(f"{route.describe(source)} tells no checksum: nothing can be held to it")
    return f"sha256:{digest}"


def write_lock(spec: str, pins: Mapping[str, str], versions: Mapping[str, Releases]) -> None:
    """Write the lock file of a spec. A SpecError: what stands in its place is none, and stays as it is."""
    problems = Problems()
    lock_file.read(spec, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    write_text(lock_file.path(spec).resolve(), lock_file.text(pins, versions))


# Newest releases: what the registry of a source lists, and which of them answer a question of a spec

_PARTS = {"all": 0, "each major": 1, "each minor": 2}  # of a version, by which releases are grouped


class ReleaseAnswers(Struct, frozen=True):
    """Answers to the questions of a spec: those of the lock file, and of registries to questions that it lacks."""

    site: Site
    spec: str = ""  # into whose lock file an answer of a registry is written at once, and told in a line
    renew: bool = False  # ask all questions again; where a registry fails, the answer of the lock file stays
    report: Callable[[str], None] = lambda key: None  # gets each question before a registry is asked
    releases: dict[str, Releases] = {}  # by question
    failed: dict[str, str] = {}

    def find(self, question: ReleaseQuestion, locked: Releases) -> Releases:
        if question.key not in self.releases:
            is_enough = locked and not self.renew
            self.releases[question.key] = locked if is_enough else self._ask(question, locked)
        return self.releases[question.key]

    def _ask(self, question: ReleaseQuestion, locked: Releases) -> Releases:
        self.report(question.key)
        try:
            releases = answer(question, self.site)
            if self.spec:
                path, lock = lock_file.path(self.spec), lock_file.read(self.spec, Problems())
                write_lock(self.spec, lock.pins, {**lock.versions, question.key: releases})
                print(f"{path}: {question.key}: {', '.join(releases)}", file=sys.stderr)
        except (BuildError, OSError) as error:
            if not locked:
                raise BuildError(str(error)) from None
            self.failed[question.key] = str(error)
            return locked
        return releases


def answer(question: ReleaseQuestion, site: Site) -> Releases:
    """Ask the registry for the newest releases, the oldest first. A BuildError says why there are none."""
    releases = list_releases(question.source, site)
    newest = choose(releases, question)
    if not newest:
        fault = f"from {question.first} on: the newest is {max(releases, key=Version)}" if releases else ""
        raise BuildError(f"{source_key(question.source)} has no release {fault or 'whose version is numbers alone'}")
    return {version: releases[version] for version in newest}


def choose(versions: Iterable[str], question: ReleaseQuestion) -> list[str]:
    """Choose the newest, or so many of each group, in ascending order."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for version in sorted(versions, key=Version):
        if Version(version) >= question.first:
            parts = [*version.split("."), "0"]  # 2 is 2.0
            groups.setdefault(tuple(parts[: _PARTS[question.group]]), []).append(version)
    return [version for group in groups.values() for version in group[-question.number :]]


def list_releases(source: Mapping[str, Json], site: Site) -> Releases:
    """List all releases of an open source, without release candidates and the like; of Debian, series by suite."""
    prefix, suffix, separators = "", "", "."
    if parts := around_expression(release_text(source)):
        prefix, expression, suffix = parts
        separators = "._" if "_" in expression else "."  # REL_{{ version | replace('.', '_') }}
    release = re.compile(rf"{re.escape(prefix)}(\d+(?:[{separators}]\d+)*){re.escape(suffix)}", re.ASCII)
    releases: dict[str, str] = {}
    for suite in listed_texts(source.get("suite", "")):
        for name in _names({**source, **({"suite": suite} if suite else {})}, site):
            if match := release.fullmatch(name):
                releases.setdefault(match[1].replace("_", "."), suite)
    return releases


def around_expression(text: str) -> tuple[str, str, str] | None:
    """Split a text at its first {{ and its last }}; None where there is no expression."""
    before, begin, remainder = text.partition("{{")
    expression, end, after = remainder.rpartition("}}")
    return (before, expression, after) if begin and end else None


def _names(source: Mapping[str, Json], site: Site) -> Sequence[str]:
    """Ask a registry for the names of a source's releases."""
    sample = dict(source)
    for key, value in source.items():
        if isinstance(value, str) and (parts := around_expression(value)):
            sample[key] = f"{parts[0]}1{parts[2]}"
    for fault in source_faults(sample):  # these words reach a command line
        raise BuildError(f"the source cannot be used: {fault.message}")
    route = source_of(source)
    assert isinstance(route, ListedSource)
    with asking(PlannedBuild("", source_key(sample), "program", "", sample), site) as order:
        return route.list_versions(sample, order)
