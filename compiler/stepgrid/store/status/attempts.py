"""What was tried of a stage: which result counts, how each attempt ended. One without an end runs, or was killed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.host import files
from stepgrid.model.status import ActiveWork, AttemptEnd, NodeStatus, Status
from stepgrid.store import stage_requests
from stepgrid.store.status.results import seconds
from stepgrid.store.status.running_attempt import began
from stepgrid.store.store import Store

COUNTS, OLDER, RETRACTED, BROKEN = "counts", "older", "retracted", "broken"
FAILURE = "failure.json"
KILLED = "the process that ran it was killed, and could not say so"


def is_open(attempt: Path) -> bool:
    return not (attempt / FAILURE).is_file()


def end(attempts: Sequence[Path]) -> AttemptEnd | None:
    """Of the newest, where nobody is at work on it."""
    if not attempts:
        return None
    newest, tries = attempts[-1], len(attempts)
    if is_open(newest):
        return AttemptEnd(Status.INTERRUPTED, KILLED, "", newest, began(newest) or 0.0, tries)
    record = files.read_json(newest / FAILURE)
    return AttemptEnd(
        status=Status.INTERRUPTED if record.get("status") in ("interrupted", "broken") else Status.FAILED,
        message=str(record.get("message") or "it does not say why"),
        step=str(record.get("step") or ""),
        log=Path(str(record.get("log") or newest)),
        when=_modified(newest / FAILURE),
        tries=tries,
    )


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@dataclass(frozen=True, slots=True)
class PastAttempt:
    folder: Path
    standing: str  # of a result: counts, older, retracted, broken; of an attempt: failed, interrupted, running, waiting
    status: str | None = None  # of a result: done, unsupported
    started: str | None = None
    seconds: float | None = None
    host: str | None = None
    said: str = ""  # why it was retracted, or failed, or is unsupported
    warnings: tuple[str, ...] = ()  # of its steps, with their names


def tried(store: Store, node: NodeStatus) -> list[PastAttempt]:
    counting = node.result.folder if node.result else None
    found = [_result(folder, counting) for folder in store.all_results(node.id)]
    found += [_attempt(folder, node.work) for folder in store.attempts(node.id)]
    return sorted(found, key=lambda each: each.folder.name)


def _result(folder: Path, counting: Path | None) -> PastAttempt:
    record, note = files.read_json(folder / "result.json"), stage_requests.read_retraction(folder)
    newer = counting is None or folder.name > counting.name
    standing = RETRACTED if note else COUNTS if folder == counting else BROKEN if newer else OLDER
    said = note.sentence if note else record.get("reason") or ""
    times = _text(record, "status"), _text(record, "started"), seconds(record)
    return PastAttempt(folder, standing, *times, _host(folder), str(said), tuple(_warnings(record)))


def _warnings(record: Mapping[str, Any]) -> Iterator[str]:
    steps = record.get("steps")
    for step in steps if isinstance(steps, list) else ():
        texts = step.get("warnings") if isinstance(step, dict) else None
        yield from (f"{step.get('name')}: {text}" for text in (texts if isinstance(texts, list) else ()))


def _text(record: Mapping[str, Any], name: str) -> str | None:
    """Of a damaged record a field may be anything."""
    found = record.get(name)
    return found if isinstance(found, str) else None


def _attempt(folder: Path, work: ActiveWork | None) -> PastAttempt:
    started, last = _text(files.read_json(folder / "attempt.json"), "started"), end([folder])
    if work and work.attempt == folder:
        return PastAttempt(folder, Status.WAITING if work.waits else Status.RUNNING, None, started, None, _host(folder))
    return PastAttempt(
        folder, last.status if last else "", None, started, None, _host(folder), last.sentence if last else ""
    )


def _host(folder: Path) -> str | None:
    host = files.read_json(folder / "attempt.json").get("host")
    return _text(host, "hostname") if isinstance(host, dict) else None
