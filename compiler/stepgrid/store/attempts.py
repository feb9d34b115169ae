"""Attempts of builds and stages: what a running one does, how one without a result ended, signs of life.

An attempt says what it does in attempt.json and journal.jsonl, and how it failed in failure.json."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from stepgrid.host import cluster_job, files
from stepgrid.host.failure import StageError, tail
from stepgrid.model.status import ActiveWork, AttemptEnd, Status, Step
from stepgrid.store.paths import ATTEMPT_FILE, FAILURE_FILE, JOURNAL, parse_time_name

KILLED = "the process that ran it was killed, and could not say so"
JOURNAL_END = 1 << 16  # bytes that are read: some hundred events
Event = Mapping[str, Any]


def write_failure(folder: Path, node: str, failure: StageError, status: str) -> None:
    record = {
        "node": node,
        "attempt": folder.name,
        "status": status,
        "step": failure.step,
        "message": failure.message,
        "tail": failure.tail,
        "log": str(failure.relative_log) if failure.log else None,
    }
    files.sweep_below(folder)
    files.write_json(folder / FAILURE_FILE, record)


def read_failure(folder: Path) -> StageError | None:
    record = files.read_json(folder / FAILURE_FILE)
    if not record.get("message"):
        return None
    step, log = record.get("step"), record.get("log")
    last_lines = str(record.get("tail") or "")
    return StageError(str(record["message"]), str(step) if step else None, Path(str(log)) if log else None, last_lines)


def failure_facts(attempt: Path) -> Mapping[str, str]:
    """Return in which step an attempt failed, how, and the line that says most; empty if nothing failed."""
    record = files.read_json(attempt / FAILURE_FILE)
    if record.get("status") != "failed":
        return {}
    last_line = (str(record.get("tail") or "").splitlines() or [""])[-1].strip()
    line = str(record.get("first_error") or last_line)
    facts = {name: str(record.get(name) or "") for name in ("step", "message", "log")}
    return {**facts, "line": line}


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
    record = files.read_json(newest / FAILURE_FILE)
    try:
        when = (newest / FAILURE_FILE).stat().st_mtime
    except OSError:
        when = 0.0
    return AttemptEnd(
        status=Status.INTERRUPTED if record.get("status") in ("interrupted", "broken") else Status.FAILED,
        message=str(record.get("message") or "it does not say why"),
        step=str(record.get("step") or ""),
        log=Path(str(record.get("log") or newest)),
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
    hostname = files.read_json(attempt / ATTEMPT_FILE).get("hostname") if age < ALIVE_SECONDS else None
    return hostname not in (None, platform.node())


# What a running attempt does


def read_work(attempt: Path, pids: tuple[int, ...], titles: Mapping[str, str]) -> ActiveWork:
    """Read what an attempt does, and since when. `titles` of stages: one of them may be run again first."""
    record, events = files.read_json(attempt / ATTEMPT_FILE), _last_events(attempt / JOURNAL)
    since = start_time(attempt)
    with suppress(ValueError):
        since = datetime.fromisoformat(str(record.get("started"))).timestamp()
    step = _running_step(attempt, events)
    replays = _replayed_title(attempt, step, events, titles)
    work = ActiveWork(pids, attempt, str(record.get("hostname") or ""), since, replays=replays)
    return replace(work, step=step) if step is not None else replace(work, doing=_pause(events))


def _last_events(journal: Path) -> Sequence[Event]:
    """Read the end of a journal, without a first line that is cut and a last one that is being written."""
    try:
        lines = tail(journal, JOURNAL_END).split("\n")
    except OSError:
        return ()
    return list(files.json_records(lines[:-1], "event"))


def _running_step(attempt: Path, events: Sequence[Event]) -> Step | None:
    """Describe the last step that has begun and not ended; its time counts from when its program was started."""
    started: float | None = None
    for event in reversed(events):
        if event["event"] == "step ended":
            return None
        if event["event"] == "started" and event.get("name"):
            started = float(event["t"])
        if event["event"] == "step":
            return Step(
                name=str(event.get("name", "")),
                kind=str(event.get("kind", "")),
                index=event.get("index"),
                of=event.get("of"),
                declared=event.get("declared"),
                since=float(event["t"]) if started is None else started,
                folder=attempt / str(event.get("folder", "")),
            )
    return None


def _replayed_title(attempt: Path, step: Step | None, events: Sequence[Event], titles: Mapping[str, str]) -> str:
    """Name the stage that is run again first, by the step's folder or the last event, and the damage that is why."""
    if step is not None:
        parts = step.folder.relative_to(attempt).parts
        stage = parts[1] if len(parts) > 1 and parts[0] == "replay" else ""
    else:
        last = events[-1] if events else {}
        stage = str(last.get("stage", "")) if last.get("event") == "replay" else ""
    if not stage:
        return ""
    damages = [event.get("why") for event in events if event.get("damaged") and event.get("stage") == stage]
    return f"{titles.get(stage, stage)}{f': {damages[-1]}' if damages else ''}"


def _pause(events: Sequence[Event]) -> str:
    steps = [event for event in events if event["event"] == "step"]
    if not steps:
        return "gets its database ready"
    last = steps[-1]
    is_replayed = str(last.get("folder", "")).startswith("replay")
    is_last = last.get("index") is not None and last.get("index") == (last.get("of") or 0) - 1
    return "keeps what it has made" if is_last and not is_replayed else "is between two steps"
