"""Databases in use: one folder per running stage, removed with it; those of dead owners are swept at the start."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compiler.run.signals import Interrupted
from compiler.store.durable import remove_tree
from compiler.store.lock import Busy, locked
from compiler.store.store import Store

DATA = "data"
PATIENCE = 0.5  # seconds that a person who pressed Ctrl-C may wait for a large database to go


@contextmanager
def live(store: Store, stage: str) -> Iterator[Path]:
    """The path of the live database, absolute, for as long as the block runs."""
    folder = store.live(stage).resolve()
    folder.mkdir(parents=True)
    try:
        yield folder / DATA
    except Interrupted:
        remove_tree(folder, until=time.monotonic() + PATIENCE)  # the next job sweeps what is left
        raise
    except BaseException:
        remove_tree(folder)
        raise
    remove_tree(folder)


def sweep(store: Store, stage: str) -> None:
    """Removes what dead processes left. Call it with the stage's lock held: an owner holds its stage's lock."""
    for owner, folder in store.leftovers():
        if owner == stage:
            remove_tree(folder)
            continue
        with suppress(Busy), locked(store.lock(owner), wait=False):
            remove_tree(folder)
