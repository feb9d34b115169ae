"""Databases in use: one folder per running stage, removed with it; those of dead owners are swept at the start."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stepgrid.host.files import remove_tree
from stepgrid.host.locks import LockBusy, host_lock, locked
from stepgrid.host.processes.signals import Interrupted
from stepgrid.run.attempt import close_abandoned
from stepgrid.store.paths import DATA
from stepgrid.store.store import Store

PATIENCE = 0.5  # seconds that a person who pressed Ctrl-C may wait for a large database to go


@contextmanager
def live(store: Store, stage: str) -> Iterator[Path]:
    """The path of the live database, absolute, for as long as the block runs. Call it with the host's lock held.

    Removing large files is work for a disk: not while somebody measures. What cannot be removed now is swept later.
    """
    sweep(store, stage)
    folder = store.new_live(stage)
    until = None
    try:
        yield folder / DATA
    except Interrupted:
        until = time.monotonic() + PATIENCE
        raise
    finally:
        with suppress(OSError):
            remove_tree(folder, until)


def sweep(store: Store, stage: str) -> None:
    """Ends and removes what dead runners left. Call it with the stage's lock held: an owner holds its stage's lock."""
    for owner, folder in store.leftovers():
        with suppress(LockBusy, OSError):
            if owner == stage:
                remove_tree(folder)
                continue
            with locked(store.lock(owner), wait=False):
                close_abandoned(store, owner)
                remove_tree(folder)


def clear_up(store: Store) -> None:
    """Those of dead owners, unless somebody measures now. A runner that was killed between its result and the removal
    of its database leaves one that no stage of this plan will come to sweep."""
    with suppress(LockBusy, OSError), host_lock(shared=True, wait=False):
        sweep(store, "")
