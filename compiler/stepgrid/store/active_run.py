"""The run that is active in a checkout, below locks/: its lock, the queue, skipped stages, disk space in reserve."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from stepgrid.errors import StepgridError
from stepgrid.host.disk import disk_full, has_no_room, is_disk_full
from stepgrid.host.failure import DISK_FULL
from stepgrid.host.files import find_record, has_dead_owner, is_stale, make_folder, temporary_suffix, write_json
from stepgrid.host.locks import LockBusy, locked
from stepgrid.model.records import RunRecord, SkippedStage, parse_record
from stepgrid.store.paths import QUEUE, RESERVE, RUN_LOCK, SKIPPED_STAGES, next_time_name
from stepgrid.store.store import Store


@contextmanager
def hold_run_lock(
    store: Store, spec: str, until: str = "", stops: float | None = None, plan: str = ""
) -> Iterator[None]:
    """Hold the lock of a checkout, one run at a time, and say in it which run that is.

    LockBusy: another is active, or waits for longer."""
    path, ticket = store.lock(RUN_LOCK), _ticket(store)
    if ahead := _tickets(store, before=ticket):
        raise LockBusy([record.pid for record in filter(None, map(_read_record, ahead))])
    with locked(path, wait=False):
        now, queued = datetime.now(UTC), _read_record(ticket) if ticket else None
        waited = max((now - queued.started).total_seconds(), 0.0) if queued else 0.0
        record = RunRecord(os.getpid(), now, spec, plan, waited, until, stops if until else None)
        path.write_text(json.dumps(record.to_json()) + "\n", encoding="utf-8")
        leave_queue(store)
        yield


def read_run_record(store: Store) -> RunRecord | None:
    """Read the record of the run that took the lock last; None while it is being written."""
    return _read_record(store.lock(RUN_LOCK))


def _read_record(path: Path) -> RunRecord | None:
    return find_record(path, RunRecord)


def active_run_record(store: Store, holders: Sequence[int]) -> RunRecord | None:
    """Read the record of the process that holds the lock, not that of a run before."""
    record = read_run_record(store)
    return record if record and (record.pid in holders or not holders) else None


# The queue: a file for each run that waits for its turn. Its name begins with the time since which it waits and ends in
# its process: so it also holds the turn of one that begins anew in its place, by exec.

POLL = 1.0  # seconds between two looks at the runs ahead
FORFEIT = 120.0  # seconds after which a run that no longer looks has lost its turn: it was killed elsewhere, or stopped
_FIRST = "0"  # sorts before all times


def queued_runs(store: Store) -> list[RunRecord]:
    """Read the records of the runs that wait for their turn, in its order."""
    return [record for ticket in _tickets(store) if (record := _read_record(ticket))]


def enter_queue(store: Store, spec: str, plan: str, as_first: bool = False) -> None:
    """Queue up; `as_first`: a run that only begins anew, between two rounds of loads."""
    if _ticket(store):
        return
    names = [ticket.name.partition("-")[0] for ticket in _tickets(store)]
    path = store.lock(QUEUE) / f"{_FIRST if as_first else next_time_name(names)}-{temporary_suffix()}"
    make_folder(path.parent)
    write_json(path, RunRecord(os.getpid(), datetime.now(UTC), spec, plan), durable=False)


def leave_queue(store: Store) -> None:
    """Take this run out of the queue, with those that ended while they waited."""
    for ticket in (*_tickets(store, is_alive=False), _ticket(store)):
        if ticket is not None:
            ticket.unlink(missing_ok=True)


def await_turn(store: Store, announce: Callable[[Sequence[RunRecord]], None]) -> None:
    """Wait in the queue until no run is ahead; `announce` gets those that are, whenever they change."""
    announced: list[tuple[int, str]] = []
    while ahead := runs_ahead(store, _ticket(store)):
        names = [(record.pid, record.spec) for record in ahead]
        if names != announced:
            announce(ahead)
            announced = names
        time.sleep(POLL)
        with suppress(FileNotFoundError):  # it was stopped for so long that it lost its turn
            if ticket := _ticket(store):
                os.utime(ticket)


def runs_ahead(store: Store, ticket: Path | None = None) -> list[RunRecord]:
    """List the run that holds the lock, then those that wait, up to a place in the queue."""
    queued = [record for path in _tickets(store, before=ticket) if (record := _read_record(path))]
    try:
        with locked(store.lock(RUN_LOCK), wait=False):
            return queued
    except LockBusy as busy:
        record = active_run_record(store, busy.holders)
        return [record or RunRecord(next(iter(busy.holders), 0), datetime.now(UTC), ""), *queued]


def _tickets(store: Store, before: Path | None = None, is_alive: bool = True) -> list[Path]:
    try:
        paths = sorted(path for path in store.lock(QUEUE).iterdir() if not path.name.startswith("."))
    except OSError:
        return []
    return [path for path in paths if (before is None or path.name < before.name) and _is_waiting(path) is is_alive]


def _is_waiting(ticket: Path) -> bool:
    try:
        is_silent = time.time() - ticket.stat().st_mtime > FORFEIT
    except OSError:
        return False
    return not is_silent and not has_dead_owner(ticket.name.partition("-")[2])


def _ticket(store: Store) -> Path | None:
    """Find the place of this process in the queue."""
    return next(iter(store.lock(QUEUE).glob(f"*-{temporary_suffix()}")), None)


# Stages that a run has not started because they would not have ended in time: a line each, beside the lock.


def forget_skipped_stages(store: Store) -> None:
    store.lock(SKIPPED_STAGES).unlink(missing_ok=True)


def note_skipped_stage(store: Store, stage: str, seconds: float | None) -> None:
    """Note what a stage would have taken; None where that is unknown."""
    path = store.lock(SKIPPED_STAGES)
    make_folder(path.parent)
    line = json.dumps(SkippedStage(stage, seconds).to_json()) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, line.encode())  # at once: jobs of a cluster may do so together
    finally:
        os.close(descriptor)


def skipped_stages(store: Store) -> dict[str, float | None]:
    """Map stages that the active run, or the last, has skipped to the seconds that they would have taken."""
    try:
        lines = store.lock(SKIPPED_STAGES).read_text(encoding="utf-8").splitlines()
        records = [parse_record(line, SkippedStage) for line in lines]
    except (OSError, ValueError):
        return {}
    return {record.stage: record.seconds for record in records}


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
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            try:
                os.posix_fallocate(file, 0, size)
            except OSError:
                path.unlink()
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
