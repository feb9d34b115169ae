"""Publishes an exported build, once all of it is what was exported and its programs run here."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.build.archive import unpack
from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.record import RECORD, programs
from stepgrid.host.files import remove_tree
from stepgrid.host.locks import locked
from stepgrid.plan.identity import build_id
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.registry import require_builder
from stepgrid.store.store import Store
from stepgrid.transfer import bundle, manifest
from stepgrid.transfer.build_export import CONTENT, FORMAT
from stepgrid.transfer.bundle import MANIFEST

MayRun = Callable[[Mapping[str, Any]], bool]
_ID = re.compile(r"b-[0-9a-f]{20}")
_STAGED = "import"  # what an import that was killed leaves is below this name
_SECONDS = 60.0


def read(file: Path) -> Mapping[str, Any]:
    """The manifest alone: what the file says it is. Nothing of it is verified."""
    said = bundle.head(file, "build")
    if said.get("format") != FORMAT or not _ID.fullmatch(str(said.get("id"))) or not _whole(said.get("files")):
        raise BuildError(f"{file} is no build that this version can import: its {MANIFEST} says something else")
    if said.get("machine") != platform.machine():
        raise BuildError(f"{file} was built for {said.get('machine')}, this machine is {platform.machine()}")
    return said


def publish(store: Store, file: Path, may_run: MayRun) -> Mapping[str, Any]:
    """build.json of what is there now. A BuildError says why nothing was published.

    `may_run`: whether the programs of a build, which are somebody else's, may be asked for their version.
    """
    said = read(file)
    _refuse_known(store, said)
    with locked(store.lock(_STAGED)):
        for left in store.attempts(_STAGED):  # of an import that was killed
            remove_tree(left)
        staged = store.new_attempt(_STAGED)
        try:
            return _publish(store, file, said, staged, may_run)
        finally:
            remove_tree(staged)
            store.drop_empty_attempts(_STAGED)


def _publish(store: Store, file: Path, said: Mapping[str, Any], staged: Path, may_run: MayRun) -> Mapping[str, Any]:
    unpack(file, staged / "content")
    content = staged / "content" / CONTENT
    if _object((staged / "content" / MANIFEST).read_bytes(), file) != said or not content.is_dir():
        raise BuildError(f"{file} changed while it was read, or holds two manifests")
    if wrong := manifest.changed(said["files"], manifest.files(content)):
        raise BuildError(f"{file} is not imported: {wrong}")
    record = _object((content / RECORD).read_bytes() if (content / RECORD).is_file() else b"", file)
    _check_id(file, record, str(said["id"]))
    _check_words(file, record)
    if not may_run(record):
        raise BuildError(f"{file} is not imported: `--run` lets its programs run here")
    _check_programs(file, record, content, staged)
    with locked(store.lock(said["id"])):
        _refuse_known(store, said)
        store.publish_build(said["id"], content)
    return record


def _refuse_known(store: Store, said: Mapping[str, Any]) -> None:
    if store.has_build(said["id"]):
        raise BuildError(f"build {said['id']} is there already: {store.build(said['id'])}; nothing was changed")


def _check_id(file: Path, record: Mapping[str, Any], node: str) -> None:
    """What the record declares makes the id again: a build of something else cannot take its place."""
    try:
        declared = record["declared"]
        recipe = {name: said for name, said in declared["recipe"].items() if name != "patches"}
        made = build_id(record["engine"], declared["version"], record["source"], declared["pin"], recipe)
    except (KeyError, TypeError, AttributeError):
        raise BuildError(f"{file} is not imported: its {RECORD} does not say what its id is made of") from None
    if not record.get("id") == made == node:
        raise BuildError(f"{file} is not imported: it says it is {node}, and what its {RECORD} declares is {made}")


def _check_words(file: Path, record: Mapping[str, Any]) -> None:
    """The programs lie in the build."""
    words = [word for argv in record["programs"].values() for word in argv if not word.startswith("-")]
    if strange := next((word for word in words if any(_leaves(part) for part in word.split(":"))), None):
        raise BuildError(f"{file} is not imported: it would run {strange}, which is not in the build")


def _check_programs(file: Path, record: Mapping[str, Any], content: Path, staged: Path) -> None:
    """They run on this machine, and say the version that was recorded."""
    found, commands = programs(content), Commands(staged / "log", staged)

    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        done = commands.run((*found[program], *arguments), _SECONDS)
        return done.stdout, done.stderr

    try:
        version = require_builder(record["engine"]).identify(run).version
    except (IdentityError, LookupError, BuildError) as error:
        raise BuildError(f"{file} is not imported: its programs do not run on this machine: {error}") from None
    if version and version != record["version"]:  # some programs cannot be asked
        raise BuildError(f"{file} is not imported: its record says {record['version']}, its program {version}")


def _leaves(path: str) -> bool:
    return path.startswith("/") or ".." in Path(path).parts


def _whole(files: object) -> bool:
    return isinstance(files, Mapping) and all(isinstance(each, Mapping) for each in files.values())


def _object(text: bytes, file: Path) -> dict[str, Any]:
    return bundle.record(text, file, "build")
