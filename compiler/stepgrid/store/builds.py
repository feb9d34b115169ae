"""Builds of a store: made, failed or in the making; their records and what plans say of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from stepgrid.host.files import find_record
from stepgrid.model.plan import BUILD_PREFIX, PlannedBuild
from stepgrid.model.records import BuildRecord, Catalogue, OptionInfo, parse_record
from stepgrid.model.status import Status
from stepgrid.store.paths import BUILD_FILE, BUILD_LOG, CATALOGUE_FILE, folder_bytes, subfolders
from stepgrid.store.plans import read_input, stored_plans
from stepgrid.store.store import Store

if TYPE_CHECKING:
    from stepgrid.plan.assembly import ExistingBuild


class StoredBuild(Struct, frozen=True):
    id: str
    status: Status
    record: BuildRecord = field(default_factory=BuildRecord)
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
        record = read_build_record(folder) or BuildRecord()
        return StoredBuild(build, node.status, record, folder_bytes(folder), log=_log(folder))
    attempts = store.attempts(build)
    return StoredBuild(build, node.status, why=node.reason, log=_log(attempts[-1]) if attempts else None)


def _log(folder: Path) -> Path | None:
    return folder / BUILD_LOG if (folder / BUILD_LOG).is_file() else None


def read_build_record(folder: Path) -> BuildRecord | None:
    """Read build.json; None of a build that is not there, or whose record is damaged."""
    return find_record(folder / BUILD_FILE, BuildRecord)


def read_catalogue(folder: Path) -> Catalogue | None:
    """Read the options of a build's programs; None when it cannot tell."""
    return find_record(folder / CATALOGUE_FILE, dict[str, OptionInfo]) or None


def build_record(store: Store, build: str) -> BuildRecord | None:
    return read_build_record(store.build(build))


def build_catalogue(store: Store, build: str) -> Catalogue | None:
    return read_catalogue(store.build(build))


def existing_build(store: Store, build: str) -> ExistingBuild | None:
    """Read what a build was made of; a record that cannot be read says nothing."""
    from stepgrid.plan.assembly import ExistingBuild

    set_aside = [path for attempt in store.attempts(build) if (path := attempt / BUILD_FILE).is_file()]
    for path in (store.build(build) / BUILD_FILE, store.records() / build / BUILD_FILE, *set_aside[-1:]):
        if (text := read_input(path)) is not None:
            return ExistingBuild(_digests(text), is_local=path.parent.parent != store.records())
    return None


def _digests(text: bytes) -> frozenset[str]:
    try:
        record = parse_record(text, BuildRecord)
    except ValueError:
        return frozenset()
    return frozenset([*(artifact.digest for artifact in record.artifacts), *(file.sha256 for file in record.files)])


class PlannedUse(Struct, frozen=True):
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
