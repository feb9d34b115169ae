"""Attempts of builds and stages: what a running one does, how one without a result ended, signs of life.

An attempt says what it does in attempt.json and journal.jsonl, and how it failed in failure.json."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from stepgrid.host import cluster_job, files
from stepgrid.host.failure import StageError, tail
from stepgrid.host.files import read_record
from stepgrid.model.records import AttemptRecord, FailureRecord, JournalEvent, parse_record, replace, unix_time
from stepgrid.model.status import ActiveStep, ActiveWork, AttemptEnd, Status
from stepgrid.store.paths import ATTEMPT_FILE, FAILURE_FILE, JOURNAL, parse_time_name

KILLED = "the process that ran it was killed, and could not say so"
JOURNAL_END = 1 << 16  # bytes that are read: some hundred events


def write_failure(folder: Path, node: str, failure: StageError, status: str) -> None:
    log = str(failure.relative_log) if failure.log else None
    message, step = failure.message, failure.step
    record = FailureRecord(
        node=node, attempt=folder.name, status=status, step=step, message=message, tail=failure.tail, log=log
    )
    files.sweep_below(folder)
    files.write_json(folder / FAILURE_FILE, record)


def read_failure(folder: Path) -> StageError | None:
    record = read_record(folder / FAILURE_FILE, FailureRecord)
    log = Path(record.log) if record.log else None
    return StageError(record.message, record.step or None, log, record.tail) if record.message else None


def failed_attempt(attempt: Path) -> FailureRecord | None:
    """Read how an attempt failed; None if nothing failed."""
    record = read_record(attempt / FAILURE_FILE, FailureRecord)
    return record if record.status == Status.FAILED else None


def is_open(attempt: Path) -> bool:
    """Tell whether an attempt has not ended: it runs, or was killed."""
    return not (attempt / FAILURE_FILE).is_file()


def attempt_end(attempts: Sequence[Path]) -> AttemptEnd | None:
    """Read how the newest attempt ended, where nobody is at work on it."""
    if not attempts:
        return None
    newest, tries = attempts[-1], len(attempts)
    if is_open(newest):
        return AttemptEnd(Status.INTERRUPTED, KILLED, "", newest, start_time(newest) or 0.0, tries)
    record = read_record(newest / FAILURE_FILE, FailureRecord)
    try:
        when = (newest / FAILURE_FILE).stat().st_mtime
    except OSError:
        when = 0.0
    return AttemptEnd(
        status=Status.INTERRUPTED if record.status in ("interrupted", "broken") else Status.FAILED,
        message=record.message or "it does not say why",
        step=record.step or "",
        log=Path(record.log or newest),
        when=when,
        tries=tries,
    )


def start_time(attempt: Path) -> float | None:
    """Read from its name when an attempt began."""
    time_ = parse_time_name(attempt.name)
    return None if time_ is None else time_.timestamp()


def has_begun(attempt: Path) -> bool:
    """Tell whether an attempt has the host: the journal's first event says so."""
    try:
        return (attempt / JOURNAL).stat().st_size > 0
    except OSError:
        return False


def attempt_record(folder: Path) -> AttemptRecord:
    """Read attempt.json of an attempt or result; empty where it is missing or damaged."""
    return read_record(folder / ATTEMPT_FILE, AttemptRecord)


# Signs of life: on a cluster other machines cannot see who holds the lock of an attempt.

HEARTBEAT_SECONDS = 20.0
ALIVE_SECONDS = 120.0  # since the last sign of life
UNSEEN_SECONDS = 60.0  # names that another machine made may come so late (`latency-wait` of profiles/slurm)


@contextmanager
def heartbeat(attempt: Path) -> Iterator[None]:
    """Set the time of attempt.json again and again, by the clock of the file system, while the block runs."""
    if not cluster_job.active():
        yield
        return
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT_SECONDS):
            with suppress(OSError):
                os.utime(attempt / ATTEMPT_FILE)

    threading.Thread(target=beat, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def is_alive_elsewhere(attempt: Path) -> bool:
    """Tell whether a job on another machine, whose lock the kernel here does not know, is at work on an attempt."""
    try:
        age = time.time() - (attempt / ATTEMPT_FILE).stat().st_mtime
    except OSError:  # on a cluster a folder may be seen before the record that was put into it
        return cluster_job.active() and time.time() - (start_time(attempt) or 0.0) < UNSEEN_SECONDS
    return age < ALIVE_SECONDS and attempt_record(attempt).hostname not in ("", platform.node())


# What a running attempt does


def read_work(attempt: Path, pids: tuple[int, ...], titles: Mapping[str, str]) -> ActiveWork:
    """Read what an attempt does, and since when. `titles` of stages: one of them may be run again first."""
    record, events = attempt_record(attempt), _last_events(attempt / JOURNAL)
    since = unix_time(record.started) or start_time(attempt)
    step = _running_step(attempt, events)
    replays = _replayed_title(attempt, step, events, titles)
    index, ended = _own_steps(events)
    work = ActiveWork(pids, attempt, record.hostname, since, replays=replays, index=index, ended=ended)
    return replace(work, step=step) if step is not None else replace(work, doing=_pause(events))


def _last_events(journal: Path) -> Sequence[JournalEvent]:
    """Read the end of a journal, without a first line that is cut and a last one that is being written."""
    events: list[JournalEvent] = []
    with suppress(OSError):
        for line in tail(journal, JOURNAL_END).split("\n")[:-1]:
            with suppress(ValueError):
                events.append(parse_record(line, JournalEvent))
    return events


def _running_step(attempt: Path, events: Sequence[JournalEvent]) -> ActiveStep | None:
    """Describe the last step that has begun and not ended; its time counts from when its program was started."""
    started: float | None = None
    for event in reversed(events):
        if event.event == "step ended":
            return None
        if event.event == "started" and event.name:
            started = event.t
        if event.event == "step":
            since, folder = event.t if started is None else started, attempt / event.folder
            return ActiveStep(event.name, event.kind, event.index, event.of, event.declared, since, folder)
    return None


def _own_steps(events: Sequence[JournalEvent]) -> tuple[int | None, tuple[tuple[int, float], ...]]:
    """Read the index of the newest step, and the times of those that have ended; none of a replay."""
    index, ended = None, dict[int, float]()
    for event in events:
        if event.event == "step":
            index = event.index if event.folder.startswith("steps/") else None
        elif event.event == "step ended" and index is not None and event.seconds is not None:
            ended[index] = event.seconds
    return index, tuple(ended.items())


def _replayed_title(
    attempt: Path, step: ActiveStep | None, events: Sequence[JournalEvent], titles: Mapping[str, str]
) -> str:
    """Name the stage that is run again first, by the step's folder or the last event, and the damage that is why."""
    if step is not None:
        parts = step.folder.relative_to(attempt).parts
        stage = parts[1] if len(parts) > 1 and parts[0] == "replay" else ""
    else:
        stage = events[-1].stage if events and events[-1].event == "replay" else ""
    if not stage:
        return ""
    damages = [event.why for event in events if event.damaged and event.stage == stage]
    return f"{titles.get(stage, stage)}{f': {damages[-1]}' if damages else ''}"


def _pause(events: Sequence[JournalEvent]) -> str:
    steps = [event for event in events if event.event == "step"]
    if not steps:
        return "gets its database ready"
    last = steps[-1]
    is_last = last.index is not None and last.index == (last.of or 0) - 1
    return "keeps what it has made" if is_last and not last.folder.startswith("replay") else "is between two steps"
