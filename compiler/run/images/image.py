"""A stage's end state, kept so that its children need not run it again. A cache: never part of a result."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compiler.plan.model import PlannedStage
from compiler.run.attempt import Attempt, now
from compiler.run.images.checksums import damaged, sums_of
from compiler.run.images.clone import Cloned, clone
from compiler.run.images.live import DATA
from compiler.run.images.tree import Tree, scan
from compiler.store import images
from compiler.store.durable import write_json
from compiler.store.store import Store


class UnusableError(Exception):
    """Why an image cannot be restored."""


def load(store: Store, stage: str) -> Tree:
    """The image's list of files, when all of them are there with their sizes."""
    folder = store.image(stage)
    try:
        tree = Tree.from_json(json.loads((folder / "image.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UnusableError("there is no image") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise UnusableError("its image.json cannot be read") from None
    difference = tree.difference(scan(folder / DATA))
    if difference:
        raise UnusableError(f"the image is damaged: {difference}")
    return tree


def verified(store: Store, stage: str) -> tuple[str | None, str]:
    """What is wrong with it, if anything is, and what it was held against."""
    try:
        load(store, stage)
    except UnusableError as why:
        return str(why), ""
    folder = store.image(stage)
    sums = images.record(folder).get("checksums")
    if not isinstance(sums, dict):
        return None, "files and sizes, no checksums were recorded"
    wrong = damaged(folder / DATA, sums)
    return (f"the image is damaged: {wrong}" if wrong else None), "files, sizes and checksums"


def listed(store: Store, stage: str) -> Tree | None:
    """The image's list of files as it was saved; nothing is verified."""
    try:
        return Tree.from_json(images.record(store.image(stage)))
    except (KeyError, TypeError, ValueError):
        return None


def restore(store: Store, stage: str, tree: Tree, data: Path, immutable: Iterable[str]) -> Cloned:
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
        sums = {"checksums": sums_of(staged / DATA, tree)} if checksums else {}
        record = {"stage": stage, "made": now(), "bytes": tree.bytes, **about, **tree.to_json(), **sums}
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
