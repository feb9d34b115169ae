"""Builds of a store: made, failed or in the making; their records and what plans say of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from stepgrid.host.files import read_json
from stepgrid.model.plan import BUILD_PREFIX, PlannedBuild
from stepgrid.model.status import Status
from stepgrid.store.paths import BUILD_FILE, BUILD_LOG, CATALOGUE_FILE, folder_bytes, subfolders
from stepgrid.store.plans import read_input, stored_plans
from stepgrid.store.store import Store

if TYPE_CHECKING:
    from stepgrid.plan.assembly import ExistingBuild


@dataclass(frozen=True, slots=True)
class StoredBuild:
    id: str
    status: Status
    record: Mapping[str, Any] = field(default_factory=dict)  # build.json
    bytes: int | None = None
    why: str = ""  # there is none
    log: Path | None = None


def build_ids(store: Store) -> list[str]:
    """List all builds that are there, or were tried."""
    builds = {folder.name for folder in subfolders(store.build("_").parent)}
    attempted = {folder.name for folder in subfolders(store.attempts_of("_").parent)}
    return sorted(builds | {name for name in attempted if name.startswith(BUILD_PREFIX) and store.attempts(name)})


def read_build(store: Store, build: str) -> StoredBuild:
    from stepgrid.store.status import build_status  # not for whoever compiles a spec

    node, folder = build_status(store, build), store.build(build)
    if node.status is Status.DONE:
        record = read_record(folder / BUILD_FILE)
        return StoredBuild(build, node.status, record, folder_bytes(folder), log=_log(folder))
    attempts = store.attempts(build)
    return StoredBuild(build, node.status, why=node.reason, log=_log(attempts[-1]) if attempts else None)


def _log(folder: Path) -> Path | None:
    return folder / BUILD_LOG if (folder / BUILD_LOG).is_file() else None


def build_record(store: Store, build: str) -> dict[str, Any]:
    """Read build.json; empty of a build that is not there."""
    return read_record(store.build(build) / BUILD_FILE)


def build_catalogue(store: Store, build: str) -> Mapping[str, Any] | None:
    """Read the options of a build's programs; None when it cannot tell."""
    return read_catalogue(store.build(build) / CATALOGUE_FILE)


class _Artifact(TypedDict, total=False):
    name: str
    version: str
    digest: str


class _Declared(TypedDict, total=False):
    version: str
    pin: str
    recipe: dict[str, Any]


_TEXTS = ("id", "name", "engine", "version", "route", "recipe", "made")
_FIELD_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(("source", "facts", "quality"), dict[str, Any]),
    "declared": _Declared,
    "artifacts": list[_Artifact],
    "programs": dict[str, list[str]],
    "warnings": list[str],
    "seconds": float,
}


def read_record(path: Path) -> dict[str, Any]:
    """Read build.json; a record with a field that is not what it must be was damaged, and says nothing."""
    import msgspec

    record = read_json(path)
    try:
        for name in record.keys() & _FIELD_TYPES.keys():
            msgspec.convert(record[name], _FIELD_TYPES[name])
    except msgspec.ValidationError:
        return {}
    return record


def read_catalogue(path: Path) -> dict[str, dict[str, Any]] | None:
    """Read catalogue.json: options of a build's programs; None where there is none, or a damaged one."""
    catalogue = read_json(path)
    return catalogue if catalogue and all(isinstance(option, dict) for option in catalogue.values()) else None


def existing_build(store: Store, build: str) -> ExistingBuild | None:
    """Read what a build was made of; a record that cannot be read says nothing."""
    from stepgrid.plan.assembly import ExistingBuild

    set_aside = [path for attempt in store.attempts(build) if (path := attempt / BUILD_FILE).is_file()]
    for path in (store.build(build) / BUILD_FILE, store.records() / build / BUILD_FILE, *set_aside[-1:]):
        if (record := read_input(path)) is not None:
            return ExistingBuild(_digests(record), is_local=path.parent.parent != store.records())
    return None


def _digests(text: bytes) -> frozenset[str]:
    try:
        record = json.loads(text)
        files = record.get("facts", {}).get("files", {}).values()
        digests = [str(artifact["digest"]) for artifact in record["artifacts"]]
        return frozenset([*digests, *(str(file["sha256"]) for file in files)])
    except (ValueError, KeyError, TypeError, AttributeError):
        return frozenset()


@dataclass(frozen=True, slots=True)
class PlannedUse:
    """A build in plans: as the newest has it, and the specs that need it."""

    build: PlannedBuild | None = None
    specs: frozenset[str] = frozenset()


def planned_uses(store: Store) -> dict[str, PlannedUse]:
    """Map builds to what stored plans say of them."""
    uses: dict[str, PlannedUse] = {}
    for plan in stored_plans(store):
        for build in plan.head.builds:
            specs = uses[build.id].specs if build.id in uses else frozenset()
            uses[build.id] = PlannedUse(build, specs | {plan.spec})
    return uses
