"""A sign of life of an attempt on a cluster: other machines cannot see who holds its lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stepgrid.host import cluster_job
from stepgrid.store.status.running_attempt import RECORD

EVERY = 20.0  # seconds; `running_attempt.ALIVE` is how old the last one may be


@contextmanager
def beating(attempt: Path) -> Iterator[None]:
    """Sets the time of its attempt.json, by the clock of the file system, while the block runs."""
    if not cluster_job.active():
        yield
        return
    over = threading.Event()
    watcher = threading.Thread(target=_beat, args=(attempt / RECORD, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()


def _beat(record: Path, over: threading.Event) -> None:
    while not over.wait(EVERY):
        with suppress(OSError):
            os.utime(record)
