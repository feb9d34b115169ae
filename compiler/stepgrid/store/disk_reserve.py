"""A full disk below outputs/: work is tried once more with the reserve, and a sentence says what is full.

A step that meets one fails: run/step_record.py (its program), run/steps.py and run/stage.py (what we write)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from stepgrid.errors import StepgridError
from stepgrid.host.disk import disk_full, has_no_room, is_disk_full
from stepgrid.host.failure import DISK_FULL
from stepgrid.host.files import is_stale
from stepgrid.store import reserve
from stepgrid.store.store import Store

T = TypeVar("T")
HINT = "free some, or start in another folder"


class DiskFull(StepgridError):
    """The sentence."""


def is_full(error: BaseException) -> bool:
    """DuckDB's is no OSError."""
    return is_disk_full(error) if isinstance(error, OSError) else DISK_FULL in str(error)


def is_refusal(error: Exception) -> bool:
    """Of the system, whoever asked."""
    of_duckdb = type(error).__name__ == "IOException"  # which is not imported here
    return isinstance(error, OSError) or of_duckdb or is_stale(error)


def with_reserve(store: Store, work: Callable[[], T]) -> T:
    """Once more, if need be. DiskFull says what the first try saw."""
    try:
        return work()
    except Exception as error:
        if not is_full(error):
            raise
        said = sentence(store)
    if not reserve.release(store):
        raise DiskFull(said)
    try:
        return work()
    except Exception as error:
        if is_full(error):
            raise DiskFull(said) from None
        raise


def sentence(store: Store) -> str:
    return disk_full(store.root.absolute(), Path.cwd(), hint=HINT)


def refusal(store: Store) -> str | None:
    """Before a run starts: a result, Snakemake's notes or its temporary files would have no room."""
    from tempfile import gettempdir

    try:
        temporary = Path(gettempdir())
    except FileNotFoundError:
        return "no temporary folder can be written: free some space in one, or set TMPDIR to another"
    if has_no_room(store.root, Path.cwd()):
        return sentence(store)
    return disk_full(temporary, hint="free some, or set TMPDIR to another folder") if has_no_room(temporary) else None
