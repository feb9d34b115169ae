"""The builds of a store: those that are there, those that failed, those that are being made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.host.files import read_bytes, read_json
from stepgrid.language.files import record_file
from stepgrid.model.plan import BUILD_PREFIX
from stepgrid.model.status import Status
from stepgrid.store import build_record
from stepgrid.store.build_record import RECORD
from stepgrid.store.paths import folder_bytes
from stepgrid.store.status.reader import build_status
from stepgrid.store.store import Store

if TYPE_CHECKING:
    from stepgrid.plan.builds import ExistingBuild

LOG = "build.log"


@dataclass(frozen=True, slots=True)
class StoredBuild:
    """The store's word on one build."""

    id: str
    status: Status
    record: Mapping[str, Any] = field(default_factory=dict)  # build.json
    bytes: int | None = None
    why: str = ""  # there is none
    log: Path | None = None


@dataclass(frozen=True, slots=True)
class PlannedUse:
    """What plans say of one build."""

    build: Mapping[str, Any] = field(default_factory=dict)
    specs: frozenset[str] = frozenset()


def ids(store: Store) -> list[str]:
    """List all that are there, or were tried."""
    found = {folder.name for folder in _folders(store.build("_").parent)}
    tried = {folder.name for folder in _folders(store.root / "attempts") if folder.name.startswith(BUILD_PREFIX)}
    return sorted(found | {node for node in tried if store.attempts(node)})


def kept(store: Store, build: str) -> StoredBuild:
    node, folder = build_status(store, build), store.build(build)
    if node.status is Status.DONE:
        return StoredBuild(
            build, node.status, build_record.read(folder / RECORD), folder_bytes(folder), log=_log(folder)
        )
    tried = store.attempts(build)[-1:]
    return StoredBuild(build, node.status, why=node.reason, log=_log(tried[0]) if tried else None)


def record(store: Store, build: str) -> dict[str, Any]:
    """build.json; nothing of a build that is not there."""
    return build_record.read(store.build(build) / RECORD)


def catalogue(store: Store, build: str) -> Mapping[str, Any] | None:
    """The options of a build's programs; None when it cannot tell."""
    return build_record.catalogue(store.build(build) / "catalogue.json")


def made(store: Store, build: str) -> ExistingBuild | None:
    """What it was made of, as its record says; a record that cannot be read says nothing."""
    from stepgrid.plan.builds import ExistingBuild

    aside = [attempt / RECORD for attempt in reversed(store.attempts(build)) if (attempt / RECORD).is_file()]
    for path in (store.build(build) / RECORD, store.records() / build / RECORD, *aside[:1]):
        try:
            said = read_bytes(path)
        except OSError:
            record_file(str(path), None)
            continue
        record_file(str(path), said)
        return ExistingBuild(_digests(said), here=path.parent.parent != store.records())
    return None


def _digests(record: bytes) -> frozenset[str]:
    try:
        made = json.loads(record)
        files = made.get("facts", {}).get("files", {}).values()
        return frozenset(
            [*(str(artifact["digest"]) for artifact in made["artifacts"]), *(str(file["sha256"]) for file in files)]
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return frozenset()


def planned(store: Store) -> dict[str, PlannedUse]:
    """What the plans that are kept say of the builds that they name."""
    found: dict[str, PlannedUse] = {}
    for folder in sorted(_folders(store.plan("_").parent)):
        header = read_json(folder / "plan.json")
        for build in _builds(header):
            specs = found[build["id"]].specs if build["id"] in found else frozenset()
            found[build["id"]] = PlannedUse(build, specs | {str(header.get("spec", ""))})
    return found


def _builds(header: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = header.get("builds")
    entries = listed if isinstance(listed, list) else ()
    return [each for each in entries if isinstance(each, dict) and isinstance(each.get("id"), str)]


def _log(folder: Path) -> Path | None:
    return folder / LOG if (folder / LOG).is_file() else None


def _folders(parent: Path) -> Sequence[Path]:
    if not parent.is_dir():
        return ()
    return [each for each in parent.iterdir() if each.is_dir() and not each.name.startswith(".")]
