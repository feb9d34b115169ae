"""The run that is active in a checkout, below locks/: its lock and record, skipped stages, disk space in reserve."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from stepgrid.errors import StepgridError
from stepgrid.host.disk import disk_full, has_no_room, is_disk_full
from stepgrid.host.failure import DISK_FULL
from stepgrid.host.files import is_stale, make_folder
from stepgrid.host.locks import locked
from stepgrid.store.paths import RESERVE, RUN_LOCK, SKIPPED_STAGES
from stepgrid.store.store import Store


@dataclass(frozen=True, slots=True)
class RunRecord:
    pid: int
    started: datetime
    spec: str
    plan: str = ""  # its digest
    until: str = ""  # when it is to stop, as it was given
    stops: float | None = None  # unix time


@contextmanager
def hold_run_lock(
    store: Store, spec: str, until: str = "", stops: float | None = None, plan: str = ""
) -> Iterator[None]:
    """Hold the lock of a checkout, one run at a time, and say in it which run that is. LockBusy: another is active."""
    path = store.lock(RUN_LOCK)
    with locked(path, wait=False):
        record = {"pid": os.getpid(), "started": datetime.now(UTC).isoformat(), "spec": spec, "plan": plan}
        record |= {"until": until, "stops": stops} if until else {}
        path.write_text(json.dumps(record) + "\n", encoding="utf-8")  # in place: the lock is on this very file
        yield


def read_run_record(store: Store) -> RunRecord | None:
    """Read the record of the run that took the lock last; None while it is being written."""
    try:
        raw = json.loads(store.lock(RUN_LOCK).read_text(encoding="utf-8"))
        until, stops = str(raw.get("until", "")), raw.get("stops")
        started, plan = datetime.fromisoformat(raw["started"]), str(raw.get("plan", ""))
        return RunRecord(int(raw["pid"]), started, str(raw["spec"]), plan, until, stops)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def active_run_record(store: Store, holders: Sequence[int]) -> RunRecord | None:
    """Read the record of the process that holds the lock, not that of a run before."""
    record = read_run_record(store)
    return record if record and (record.pid in holders or not holders) else None


# Stages that a run has not started because they would not have ended in time: a line each, beside the lock.


def forget_skipped_stages(store: Store) -> None:
    store.lock(SKIPPED_STAGES).unlink(missing_ok=True)


def note_skipped_stage(store: Store, stage: str, seconds: float | None) -> None:
    """Note what a stage would have taken; None where that is unknown."""
    path = store.lock(SKIPPED_STAGES)
    make_folder(path.parent)
    line = json.dumps({"stage": stage, "seconds": seconds}) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, line.encode())  # at once: jobs of a cluster may do so together
    finally:
        os.close(descriptor)


def skipped_stages(store: Store) -> dict[str, float | None]:
    """Map stages that the active run, or the last, has skipped to the seconds that they would have taken."""
    try:
        lines = store.lock(SKIPPED_STAGES).read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
    except (OSError, ValueError):
        return {}
    return {record["stage"]: record["seconds"] for record in records}


# Disk space in reserve: what a run has to say last needs some when the disk is full.

LARGEST_RESERVE = 16 << 20  # bytes
RESERVE_SHARE = 100  # of a small disk it takes one part of so many


def keep_reserve(store: Store) -> None:
    """Set disk space aside at the start of a run, where there is room and the file system can do that."""
    path = store.lock(RESERVE)
    with suppress(OSError):
        make_folder(path.parent)
        disk = os.statvfs(path.parent)
        size = min(LARGEST_RESERVE, disk.f_blocks * disk.f_frsize // RESERVE_SHARE)
        if size and not path.exists() and disk.f_bavail * disk.f_frsize > size * RESERVE_SHARE // 10:
            _allocate(path, size)


def _allocate(path: Path, size: int) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        os.posix_fallocate(file, 0, size)
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(file)


def release_reserve(store: Store) -> bool:
    """Free the space in reserve, and tell whether there was some."""
    try:
        store.lock(RESERVE).unlink()
    except OSError:
        return False
    return True


# A full disk: work is tried once more with the reserve, and a sentence says what is full. A step that meets one fails.

T = TypeVar("T")
DISK_HINT = "free some, or start in another folder"


class DiskFull(StepgridError):
    """The disk of the store or of the current folder is full."""


def with_reserve(store: Store, work: Callable[[], T]) -> T:
    """Do work, once more with the reserve if the disk is full. DiskFull says what the first try saw."""
    try:
        return work()
    except Exception as error:
        if not is_full_disk_error(error):
            raise
        sentence = full_disk_sentence(store)
    if not release_reserve(store):
        raise DiskFull(sentence)
    try:
        return work()
    except Exception as error:
        if is_full_disk_error(error):
            raise DiskFull(sentence) from None
        raise


def is_full_disk_error(error: BaseException) -> bool:
    return is_disk_full(error) if isinstance(error, OSError) else DISK_FULL in str(error)  # DuckDB's is no OSError


def is_system_refusal(error: Exception) -> bool:
    is_of_duckdb = type(error).__name__ == "IOException"  # which is not imported here
    return isinstance(error, OSError) or is_of_duckdb or is_stale(error)


def full_disk_sentence(store: Store) -> str:
    return disk_full(store.root.absolute(), Path.cwd(), hint=DISK_HINT)


def disk_refusal(store: Store) -> str | None:
    """Say before a run starts why a result, Snakemake's notes or its temporary files would have no room."""
    from tempfile import gettempdir

    try:
        temporary = Path(gettempdir())
    except FileNotFoundError:
        return "no temporary folder can be written: free some space in one, or set TMPDIR to another"
    if has_no_room(store.root, Path.cwd()):
        return full_disk_sentence(store)
    return disk_full(temporary, hint="free some, or set TMPDIR to another folder") if has_no_room(temporary) else None
