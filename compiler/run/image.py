"""A stage's end state, kept so that its children need not run it again. A cache: never part of a result."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compiler.run.attempt import now
from compiler.run.clone import Cloned, clone
from compiler.run.live import DATA
from compiler.run.tree import Tree, scan
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


def restore(store: Store, stage: str, tree: Tree, data: Path, immutable: Iterable[str]) -> Cloned:
    return clone(store.image(stage) / DATA, data, tree, immutable)


def save(store: Store, owner: str, stage: str, data: Path, immutable: Iterable[str], **about: Any) -> None:
    """The live database becomes the image of `stage`, by the job of `owner`: nothing is left at `data`."""
    staged = store.new_image(owner)
    try:
        tree = scan(data)
        _move(data, staged / DATA, tree, immutable)
        record = {"stage": stage, "made": now(), "bytes": tree.bytes, **about, **tree.to_json()}
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
