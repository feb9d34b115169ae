"""Everything that was tried of a stage, oldest first: results, the one that counts among them, and other attempts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from stepgrid.host import file_reader
from stepgrid.store import retractions
from stepgrid.store.store import Store

COUNTS, OLDER, RETRACTED = "counts", "older", "retracted"
RUNNING = "running"  # or killed, and not looked at since


@dataclass(frozen=True, slots=True)
class Tried:
    folder: Path
    standing: str  # counts, older, retracted; of an attempt what became of it: failed, interrupted, broken, running
    status: str | None = None  # of a result: done, unsupported
    started: str | None = None
    seconds: float | None = None
    host: str | None = None
    said: str = ""  # why it was retracted, or failed, or is unsupported


def tried(store: Store, stage: str) -> list[Tried]:
    counting = store.result(stage)
    found = [_result(folder, folder == counting) for folder in store.all_results(stage)]
    found += [_attempt(folder) for folder in store.attempts(stage)]
    return sorted(found, key=lambda each: each.folder.name)


def _result(folder: Path, counts: bool) -> Tried:
    record, note = file_reader.read(folder / "result.json"), retractions.of(folder)
    standing = RETRACTED if note else COUNTS if counts else OLDER
    started, ended = record.get("started"), record.get("ended")
    said = note.said if note else record.get("reason") or ""
    return Tried(folder, standing, record.get("status"), started, _seconds(started, ended), _host(folder), said)


def _attempt(folder: Path) -> Tried:
    failure, started = (
        file_reader.read(folder / "failure.json"),
        file_reader.read(folder / "attempt.json").get("started"),
    )
    step = f"{failure['step']}: " if failure.get("step") else ""
    said = f"{step}{failure.get('message', '')}"
    return Tried(folder, str(failure.get("status") or RUNNING), None, started, None, _host(folder), said)


def _host(folder: Path) -> str | None:
    name = (file_reader.read(folder / "attempt.json").get("host") or {}).get("hostname")
    return None if name is None else str(name)


def _seconds(started: Any, ended: Any) -> float | None:
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds()
    except (ValueError, TypeError):
        return None
