"""Without Python's search for circular garbage, while much is made that stays."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """A plan is many small objects without circles: looking for garbage among them takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def unsearched() -> None:
    """At the end of this process, where Python would look through all that was imported: up to a fifth of the time."""
    atexit.register(_freeze)


def _freeze() -> None:
    if "duckdb" not in sys.modules:  # its binding prints a page about every object that is not freed
        gc.freeze()
