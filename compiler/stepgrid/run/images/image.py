"""A stage's end state, kept so that its children need not run it again. A cache: never part of a result."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stepgrid.host.files import Tree, scan, write_json
from stepgrid.model.plan import PlannedStage
from stepgrid.model.units import counted
from stepgrid.run.attempt import Attempt
from stepgrid.run.images.clone import CloneOutcome, clone
from stepgrid.store import images
from stepgrid.store.images import (
    DAMAGED_IMAGE,
    SAMPLES,
    SUMS,
    UnusableError,
    fingerprint,
    first_difference,
    verify_image,
)
from stepgrid.store.paths import DATA, now
from stepgrid.store.store import Store


def verified(store: Store, stage: str) -> tuple[str | None, str]:
    """What is wrong with it, if anything is, and what it was held against: everything that was recorded of it."""
    try:
        verify_image(store, stage)
    except UnusableError as why:
        return str(why), ""
    folder = store.image(stage)
    record = images.read_image_record(folder)
    sums, samples = record.get(SUMS, {}), record.get(SAMPLES, {})
    if not (sums or samples):
        return None, "files and sizes, no checksums were recorded"
    wrong = first_difference(folder / DATA, sums, samples)
    return (DAMAGED_IMAGE.format(wrong) if wrong else None), _against(len(sums), len(samples))


def _against(whole: int, samples: int) -> str:
    said = "files, sizes and checksums"
    return f"{said} ({whole} of {counted(whole + samples, 'file')} in full, samples of the rest)" if samples else said


def listed(store: Store, stage: str) -> Tree | None:
    """The image's list of files as it was saved; nothing is verified."""
    try:
        return Tree.from_json(images.read_image_record(store.image(stage)))
    except (KeyError, TypeError, ValueError):
        return None


def restore(store: Store, stage: str, tree: Tree, data: Path, immutable: Iterable[str]) -> CloneOutcome:
    images.note_use(store, stage)
    return clone(store.image(stage) / DATA, data, tree, immutable)


def keep(attempt: Attempt, stage: PlannedStage, data: Path, immutable: Iterable[str], replayed: bool = False) -> None:
    """The end state of the attempt's own stage, or of one that it replays, as an image that says whose it is."""
    job = attempt.job
    about = {"title": stage.title, "attempt": attempt.folder.name, "replayed": replayed}
    save(job.store, job.stage.id, stage.id, data, immutable, checksums=job.site.image_checksums, **about)


def save(
    store: Store, owner: str, stage: str, data: Path, immutable: Iterable[str], checksums: bool = False, **about: Any
) -> None:
    """The live database becomes the image of `stage`, by the job of `owner`: nothing is left at `data`."""
    staged = store.new_image(owner)
    try:
        tree = scan(data)
        _move(data, staged / DATA, tree, immutable)
        known = fingerprint(staged / DATA, tree, checksums)
        record = {"stage": stage, "made": now(), "bytes": tree.bytes, **about, **tree.to_json(), **known}
        write_json(staged / "image.json", record)
        store.publish_image(stage, staged)
    except OSError:
        store.drop_image(staged)
        raise


def _move(data: Path, target: Path, tree: Tree, immutable: Iterable[str]) -> None:
    try:
        os.rename(data, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        clone(data, target, tree, immutable)  # live databases may have a file system of their own
