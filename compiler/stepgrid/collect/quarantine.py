"""Damaged results are moved to the attempts and lose their marks, so that the next run measures their stages again."""

from __future__ import annotations

import os
import sys

from stepgrid.host.locks import LockBusy, holders, locked
from stepgrid.model.status import BrokenRecord
from stepgrid.store.run_lock import NAME as RUN
from stepgrid.store.store import Store

NEXT = "; the next run measures it again"


def quarantine(store: Store, broken: BrokenRecord) -> bool:
    """Whether it is gone from the results. Not while another run goes on: its jobs may wait for the mark."""
    from stepgrid.store.status.integrity import set_aside  # much to import, and seldom needed

    if not _may_move(store):
        return False
    try:
        with locked(store.lock(broken.node), wait=False):
            said = set_aside(store, broken, NEXT)
    except (LockBusy, OSError):
        return False
    if said:
        print(said, file=sys.stderr, flush=True)
    return True


def _may_move(store: Store) -> bool:
    """A run starts the collecting itself, as a child."""
    running = holders(store.lock(RUN))
    return not running or os.getppid() in running
