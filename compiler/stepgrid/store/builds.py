"""Builds of a store: made, failed or in the making; their records and what plans say of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.host.files import find_record
from stepgrid.model.plan import BUILD_PREFIX
from stepgrid.model.records import BuildRecord, Catalogue, OptionInfo, parse_record
from stepgrid.store.paths import BUILD_FILE, CATALOGUE_FILE, subfolders
from stepgrid.store.plans import read_input
from stepgrid.store.store import Store

if TYPE_CHECKING:
    from stepgrid.plan.assembly import ExistingBuild


def build_ids(store: Store) -> list[str]:
    """List all builds that are there, or were tried."""
    builds = {folder.name for folder in subfolders(store.build("_").parent)}
    attempted = {folder.name for folder in subfolders(store.attempts_of("_").parent)}
    return sorted(builds | {name for name in attempted if name.startswith(BUILD_PREFIX) and store.attempts(name)})


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
