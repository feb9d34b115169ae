"""Finished builds as bundles: export, and import once the programs run on this machine."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.record import programs
from stepgrid.host.locks import locked
from stepgrid.model.records import BuildRecord, Declaration
from stepgrid.plan.identity import build_id
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.registry import require_builder
from stepgrid.store.paths import BUILD_FILE
from stepgrid.store.store import Store
from stepgrid_share import bundle
from stepgrid_share.bundle import Manifest

FORMAT = 1
CONTENT = "build"
_ID = re.compile(r"b-[0-9a-f]{20}")
_IDENTIFY_SECONDS = 60.0


def export_build(folder: Path, file: Path) -> Manifest:
    """Write a build to a file, and return the manifest."""
    record = bundle.parse_content((folder / BUILD_FILE).read_bytes(), folder, CONTENT, BuildRecord)
    bundle.check_name(file)
    words = [word for argv in record.programs.values() for word in argv]
    if path := next((word for word in words if word.startswith("/")), None):
        raise BuildError(f"{record.name} runs {path}, which belongs to this machine: there is nothing to move")
    manifest = Manifest(FORMAT, id=record.id, machine=platform.machine())
    contents = {str(path.relative_to(folder)): (folder, path) for path in bundle.list_files(folder)}
    return bundle.write_bundle(file, manifest, CONTENT, contents)


def read_build_manifest(file: Path) -> Manifest:
    """Read what the file says it is, of which nothing is verified."""
    manifest = bundle.read_manifest(file, CONTENT)
    if manifest.format != FORMAT or not _ID.fullmatch(manifest.id):
        raise BuildError(f"{file} is no build that this version can import: its {bundle.MANIFEST} says something else")
    if manifest.machine != platform.machine():
        raise BuildError(f"{file} was built for {manifest.machine}, this machine is {platform.machine()}")
    return manifest


def import_build(store: Store, file: Path, may_run: Callable[[BuildRecord], bool]) -> BuildRecord:
    """Publish a build, and return its record; a BuildError says why nothing was published.

    `may_run`: whether the programs of a record, which are somebody else's, may be asked for their version.
    """
    manifest = read_build_manifest(file)
    _refuse_present(store, manifest.id)
    with bundle.unpacked(store, file, manifest, CONTENT) as content:
        text = (content / BUILD_FILE).read_bytes() if (content / BUILD_FILE).is_file() else b""
        record = bundle.parse_content(text, file, CONTENT, BuildRecord)
        _check_id(file, record, manifest.id)
        _check_words(file, record)
        if not may_run(record):
            raise BuildError(f"{file} is not imported: `--run` lets its programs run here")
        _check_programs(file, record, content)
        with locked(store.lock(manifest.id)):
            _refuse_present(store, manifest.id)
            store.publish_build(manifest.id, content)
        return record


def _refuse_present(store: Store, build: str) -> None:
    if store.has_build(build):
        raise BuildError(f"build {build} is there already: {store.build(build)}; nothing was changed")


def _check_id(file: Path, record: BuildRecord, build: str) -> None:
    """Compare the id with what the record declares: a build of something else cannot take its place."""
    declared = record.declared or Declaration()
    recipe = {name: value for name, value in declared.recipe.items() if name != "patches"}
    try:
        declared_id = build_id(record.engine, declared.version, record.source, declared.pin, recipe)
    except (KeyError, TypeError, AttributeError):
        raise BuildError(f"{file} is not imported: its {BUILD_FILE} does not say what its id is made of") from None
    if not record.id == declared_id == build:
        raise BuildError(
            f"{file} is not imported: it says it is {build}, and what its {BUILD_FILE} declares is {declared_id}"
        )


def _check_words(file: Path, record: BuildRecord) -> None:
    """Check that all programs lie in the build."""
    words = [word for argv in record.programs.values() for word in argv if not word.startswith("-")]
    for word in words:
        if any(part.startswith("/") or ".." in Path(part).parts for part in word.split(":")):
            raise BuildError(f"{file} is not imported: it would run {word}, which is not in the build")


def _check_programs(file: Path, record: BuildRecord, content: Path) -> None:
    """Check that the programs run on this machine, and say the version that was recorded."""
    argv_by_program, commands = programs(content), Commands(content.parent / "log", content.parent)

    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        result = commands.run((*argv_by_program[program], *arguments), _IDENTIFY_SECONDS, cwd=content.parent)
        return result.stdout, result.stderr

    try:
        version = require_builder(record.engine).identify(run).version
    except (IdentityError, LookupError, BuildError) as error:
        raise BuildError(f"{file} is not imported: its programs do not run on this machine: {error}") from None
    if version and version != record.version:  # some programs cannot be asked
        raise BuildError(f"{file} is not imported: its record says {record.version}, its program {version}")
