"""The results of stages: the newest that is whole counts. It is read in full when it changed, else its beginning."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from stepgrid.errors import StepgridError
from stepgrid.host.files import read_bytes
from stepgrid.model.status import BrokenRecord, Files, Result, Stage, Status
from stepgrid.store import checksums
from stepgrid.store.record_header import head
from stepgrid.store.store import Store

_STATUSES = (Status.DONE, Status.UNSUPPORTED)


class BrokenResult(StepgridError):
    """A result that does not hold what it must."""


class Results:
    """Of a store. A stage whose folder stays as it is is not looked at again."""

    def __init__(self, store: Store, sound_since: float = float("-inf")) -> None:
        """`sound_since`: when all of them were found to be whole."""
        self._store, self._since = store, sound_since
        self._results = store.results_of("_").parent
        self._seen: dict[str, tuple[int, Result | None, tuple[BrokenRecord, ...]]] = {}

    def of(self, stage: Stage) -> Result | None:
        try:
            changed = os.stat(f"{self._results}/{stage.id}").st_mtime_ns  # noqa: PTH116 - ten thousand
        except OSError:
            return None
        if self._seen.get(stage.id, (None,))[0] != changed:
            self._seen[stage.id] = (changed, *self._newest(stage))
        return self._seen[stage.id][1]

    def broken(self, stage: str) -> tuple[BrokenRecord, ...]:
        """Those newer than the one that counts."""
        return self._seen[stage][2] if stage in self._seen else ()

    def _newest(self, stage: Stage) -> tuple[Result | None, tuple[BrokenRecord, ...]]:
        broken: tuple[BrokenRecord, ...] = ()
        for folder in reversed(self._store.results(stage.id)):
            try:
                return self._read(folder, stage), broken
            except BrokenResult as error:
                broken = (*broken, BrokenRecord(stage.id, folder, str(error)))
        return None, broken

    def _read(self, folder: Path, stage: Stage) -> Result:
        if _changed(folder) >= self._since:
            return read(folder, stage)
        record = head(f"{folder}/{checksums.RECORD}")
        return _result(folder, record) if record.get("status") in _STATUSES else read(folder, stage)


class Marks:
    """What a job goes by: the run that started it has looked at every result. One that is there stays."""

    def __init__(self, store: Store) -> None:
        self._marks = store.mark("_").parent
        self._seen: dict[str, Result] = {}

    def of(self, stage: Stage) -> Result | None:
        if stage.id not in self._seen and (found := self._read(stage)):
            self._seen[stage.id] = found
        return self._seen.get(stage.id)

    def _read(self, stage: Stage) -> Result | None:
        mark = f"{self._marks}/{stage.id}"
        try:
            folder = Path(f"{self._marks}/{os.readlink(mark)}").parent  # noqa: PTH115
        except OSError:
            return None
        record = head(mark)
        if not record and not os.path.exists(mark):  # noqa: PTH110 - ten thousand
            return None
        return _result(folder, record) if record.get("status") in _STATUSES else Result(folder)

    def broken(self, _stage: str) -> tuple[BrokenRecord, ...]:
        return ()


def read(folder: Path, stage: Stage) -> Result:
    """Trusts nothing: a kill, a copy or a hand may have left anything here."""
    record = _record(folder, stage.id)
    if record["status"] == Status.UNSUPPORTED:
        return _result(folder, record)
    steps = record.get("steps")
    if not isinstance(steps, list) or len(steps) != len(stage.steps):
        found = len(steps) if isinstance(steps, list) else "no"
        raise BrokenResult(f"result.json lists {found} steps, the plan has {len(stage.steps)}")
    if (wrong := next((index for index, step in enumerate(steps) if not is_sound(step)), None)) is not None:
        raise BrokenResult(f"result.json holds no record of step {wrong} that can be read")
    return _result(folder, record, tuple(steps), _folders(folder, len(steps)))


def broken_text(result: Path, why: str) -> str:
    return f"the result {result} is broken: {why}; the next run measures it again"


def changed(result: Result) -> str | None:
    """A sentence about a file that is not what was published, of a result that has checksums."""
    return checksums.difference(result.folder, result.files) if result.files else None


def seconds(record: Mapping[str, Any]) -> float | None:
    """Records of earlier versions have no more than two times of a clock that may have been set meanwhile."""
    try:
        if "seconds" in record:
            return float(record["seconds"])
        span = datetime.fromisoformat(record["ended"]) - datetime.fromisoformat(record["started"])
        return max(span.total_seconds(), 0.0)
    except (KeyError, ValueError, TypeError):
        return None


def _result(
    folder: Path, record: Mapping[str, Any], steps: tuple[Any, ...] = (), folders: tuple[Path, ...] = ()
) -> Result:
    status = Status[str(record["status"]).upper()]
    reason = "" if status is Status.DONE else str(record.get("reason") or "no reason given")
    took = seconds(record) if status is Status.DONE else None
    ended, waited = _time(record.get("ended")), record.get("waited")
    waited = float(waited) if isinstance(waited, int | float) else 0.0  # results of before have none
    return Result(folder, status, reason, took, ended, waited, steps, folders, _files(record))


def _record(result: Path, stage: str) -> dict[str, Any]:
    from pydantic_core import from_json  # as json.loads, in half its time

    try:
        record = from_json(read_bytes(f"{result}/{checksums.RECORD}"))
    except FileNotFoundError:
        raise BrokenResult("result.json is missing") from None
    except (OSError, ValueError) as error:
        raise BrokenResult(f"result.json cannot be read ({error})") from None
    if not isinstance(record, dict) or record.get("status") not in _STATUSES:
        raise BrokenResult("result.json has no status that a result may have (done, unsupported)")
    if record.get("stage") != stage:
        raise BrokenResult(f"result.json is of stage {record.get('stage')}, not {stage}")
    return record


def _files(record: Mapping[str, Any]) -> Files | None:
    """Whole or not at all: a record that was edited by hand holds no checksums."""
    files = record.get("files")
    entries = files.values() if isinstance(files, dict) else [None]
    return files if all(isinstance(each, dict) and {"bytes", "sha256"} <= each.keys() for each in entries) else None


def _folders(result: Path, count: int) -> tuple[Path, ...]:
    """By the index alone: the name behind it is the label that the step had when it ran."""
    found: dict[int, Path] = {}
    for entry in result.glob("steps/*-*"):
        index = entry.name.split("-")[0]
        if index.isdecimal() and entry.is_dir() and not entry.is_symlink():
            found[int(index)] = entry
    if missing := [index for index in range(count) if index not in found]:
        raise BrokenResult(f"the folder of step {missing[0]} is missing under steps/")
    return tuple(found[index] for index in range(count))


def _changed(result: Path) -> float:
    """ctime: nothing but a change sets it. Without steps (unsupported, or lost) it is read in any case."""
    try:
        return max(os.stat(f"{result}/{name}").st_ctime for name in ("result.json", "steps"))  # noqa: PTH116 - 10,000
    except OSError:
        return float("inf")


def _time(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


# Records of steps: they have the types that a run writes.


def is_sound(record: Any) -> bool:
    """Check one: a record that a hand or a damaged disk changed would end the report of all results."""
    if not isinstance(record, dict):
        return False
    counters = record.get("counters") or {}
    return (
        _is_number(record.get("seconds", 0))
        and _are_texts(record.get("warnings", []))
        and _are_numbers(record.get("probes") or {})
        and isinstance(counters, dict)
        and all(map(_are_numbers, counters.values()))
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _are_numbers(values: Any) -> bool:
    return isinstance(values, dict) and all(value is not None and _is_number(value) for value in values.values())


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
