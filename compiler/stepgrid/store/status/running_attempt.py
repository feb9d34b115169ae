"""What an attempt that runs is doing, as its attempt.json and the end of its journal tell."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stepgrid.host import cluster_job, files
from stepgrid.host.failure import tail
from stepgrid.host.files import json_records
from stepgrid.model.status import ActiveWork, Step
from stepgrid.store.paths import TIME_FORMAT

JOURNAL, RECORD = "journal.jsonl", "attempt.json"
ALIVE = 120.0  # seconds since a job on another machine has last given a sign of life (store/heartbeat.py)
UNSEEN = 60.0  # seconds: names that another machine made may come so late (`latency-wait` of profiles/slurm)
TAIL = 1 << 16  # bytes of the journal's end: some hundred events
Event = Mapping[str, Any]


def doing(attempt: Path, pids: tuple[int, ...], titles: Mapping[str, str]) -> ActiveWork:
    """`titles` of stages: one of them may be run again first. `waits` for the host is left to who asks."""
    record, events = files.read_json(attempt / RECORD), _events(attempt / JOURNAL)
    work = ActiveWork(pids, attempt, str(record.get("hostname") or ""), _since(attempt, record))
    step = _step(attempt, events)
    work = replace(work, replays=_replayed(attempt, step, events, titles))
    if step is not None:
        return replace(work, step=step)
    return replace(work, doing=_between(events))


def is_alive_elsewhere(attempt: Path) -> bool:
    """Of one that has not ended: a job on another machine, whose lock the kernel here does not know."""
    try:
        age = time.time() - (attempt / RECORD).stat().st_mtime
    except OSError:
        return _is_unseen(attempt)
    hostname = files.read_json(attempt / RECORD).get("hostname") if age < ALIVE else None
    return hostname not in (None, platform.node())


def _is_unseen(attempt: Path) -> bool:
    """On a cluster a folder may be seen before the record that was put into it."""
    return cluster_job.active() and time.time() - (began(attempt) or 0.0) < UNSEEN


def has_begun(attempt: Path) -> bool:
    """Whether it has the host: the journal's first event says so."""
    try:
        return (attempt / JOURNAL).stat().st_size > 0
    except OSError:
        return False


def began(attempt: Path) -> float | None:
    """By its name."""
    try:
        return datetime.strptime(attempt.name, TIME_FORMAT).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _since(attempt: Path, record: Mapping[str, Any]) -> float | None:
    try:
        return datetime.fromisoformat(str(record.get("started"))).timestamp()
    except ValueError:
        return began(attempt)


def _events(journal: Path) -> Sequence[Event]:
    """Of its end: a first line that is cut, and a last one that is being written, are left out."""
    try:
        lines = tail(journal, TAIL).split("\n")
    except OSError:
        return ()
    return list(json_records(lines[:-1], "event"))


def _step(attempt: Path, events: Sequence[Event]) -> Step | None:
    """The last one that has begun and not ended; its time counts from when its program was started."""
    started: float | None = None
    for event in reversed(events):
        if event["event"] == "step ended":
            return None
        if event["event"] == "started" and event.get("name"):
            started = float(event["t"])
        if event["event"] == "step":
            return _read_step(attempt, event, started)
    return None


def _read_step(attempt: Path, event: Event, started: float | None) -> Step:
    since = float(event["t"]) if started is None else started
    return Step(
        name=str(event.get("name", "")),
        kind=str(event.get("kind", "")),
        index=event.get("index"),
        of=event.get("of"),
        declared=event.get("declared"),
        since=since,
        folder=attempt / str(event.get("folder", "")),
    )


def _replayed(attempt: Path, step: Step | None, events: Sequence[Event], titles: Mapping[str, str]) -> str:
    """The step's folder says so; before its first step the journal's last word does."""
    if step is not None:
        parts = step.folder.relative_to(attempt).parts
        stage = parts[1] if len(parts) > 1 and parts[0] == "replay" else ""
    else:
        last = events[-1] if events else {}
        stage = str(last.get("stage", "")) if last.get("event") == "replay" else ""
    return f"{titles.get(stage, stage)}{_damage(stage, events)}" if stage else ""


def _damage(stage: str, events: Sequence[Event]) -> str:
    """: the image is damaged: …, where that is why."""
    whys = [event.get("why") for event in events if event.get("damaged") and event.get("stage") == stage]
    return f": {whys[-1]}" if whys else ""


def _between(events: Sequence[Event]) -> str:
    ended = [event for event in events if event["event"] == "step"]
    if not ended:
        return "gets its database ready"
    last = ended[-1]
    replay = str(last.get("folder", "")).startswith("replay")
    is_last = last.get("index") is not None and last.get("index") == (last.get("of") or 0) - 1
    return "keeps what it has made" if is_last and not replay else "is between two steps"
