"""build.json and catalogue.json: what a build is, written for each stage that runs it and for the report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from stepgrid.host.files import load_record, sha256
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.records import BuildRecord, Catalogue, Declaration, LocalFile, plain, replace
from stepgrid.store.paths import BUILD_FILE, BUILD_LOG, CATALOGUE_FILE

if TYPE_CHECKING:  # a stage reads a record, and writes none
    from stepgrid.build.recipe import BuiltPrograms, Material
    from stepgrid.plugins.engine import Identity

_RECORDS = (BUILD_FILE, CATALOGUE_FILE, BUILD_LOG)  # of how it was made


class CheckedBuild(Struct, frozen=True):
    """Answers of a fresh build that was asked what it is."""

    identity: Identity
    catalogue: Catalogue | None  # None: it cannot be asked


class FinishedBuild(Struct, frozen=True):
    route: str
    recipe: str
    material: Material
    output: BuiltPrograms
    checked: CheckedBuild
    seconds: float
    waited: float = 0.0  # for the host, before it began


def write(folder: Path, build: PlannedBuild, finished: FinishedBuild) -> None:
    catalogue = finished.checked.catalogue
    if catalogue is not None:
        _dump(folder / CATALOGUE_FILE, {option.name: replace(option, name="") for option in catalogue.values()})
    checksum = content_checksum(folder, finished.output.programs)
    # last: it says that the rest is there
    _dump(folder / BUILD_FILE, replace(record(build, finished), checksum=checksum))


def record(build: PlannedBuild, finished: FinishedBuild) -> BuildRecord:
    identity, material, output = finished.checked.identity, finished.material, finished.output
    return BuildRecord(
        id=build.id,
        name=build.name,
        engine=build.engine,
        version=identity.version,
        source=build.source,
        declared=Declaration(build.version, build.pin, build.recipe),
        route=finished.route,
        recipe=finished.recipe,
        artifacts=(*material.artifacts, *output.artifacts),
        programs={name: tuple(argv) for name, argv in output.programs.items()},
        warnings=tuple(identity.warnings),
        assertions=identity.assertions,
        facts={**material.facts, **output.facts, **(identity.facts or {})},
        # two builds whose qualities are equal compare without a caveat
        quality={**material.quality, **output.quality, "assertions": identity.assertions},
        seconds=round(finished.seconds, 3),
        waited=round(finished.waited, 3),
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def content_checksum(folder: Path, prefixes: Mapping[str, Sequence[str]]) -> str:
    """Sum up the contents of all files of a build, whatever their names: two of one sum are the same."""
    words = (Path(word) for argv in prefixes.values() for word in absolute(folder, argv))
    contents = {path for path in folder.rglob("*") if path.parent != folder or path.name not in _RECORDS}
    files = {path.resolve() for path in {*contents, *words} if path.is_file()}
    return hashlib.sha256(" ".join(sorted(map(sha256, files))).encode()).hexdigest() if files else ""


def programs(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the argv prefix of each program of a published build, with absolute paths."""
    prefixes = load_record(folder / BUILD_FILE, BuildRecord).programs
    return {name: absolute(folder, argv) for name, argv in prefixes.items()}


def absolute(folder: Path, words: Sequence[str]) -> tuple[str, ...]:
    """Resolve a recorded argv prefix: options and absolute paths stay, other paths are below the build's folder."""

    def resolve(word: str) -> str:
        return ":".join(str(folder.absolute() / part) for part in word.split(":"))  # a library path has several parts

    return tuple(word if word.startswith("-") else resolve(word) for word in words)


def changed(build: BuildRecord) -> str | None:
    """Return a sentence when a binary of the machine is not what the build recorded; cheap when untouched."""
    for file in build.files:
        if not _is_same_file(file):
            remedy = "run the same command again, and the binary that is there now is measured as a build of its own"
            return f"{file.path} is not the binary that build {build.name} recorded: {remedy}"
    return None


def _is_same_file(file: LocalFile) -> bool:
    path = Path(file.path)
    try:
        status = path.stat()
        touched = (status.st_size, status.st_mtime_ns) != (file.bytes, file.modified)
        return not touched or sha256(path) == file.sha256
    except OSError:
        return False


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(plain(value), indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
