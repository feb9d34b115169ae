"""Results of stages: the newest that is whole counts. A broken one is lost, kept aside, and measured again.

A result is read in full when it changed, else the beginning of its result.json. That has checksums of its files."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from stepgrid.errors import StepgridError
from stepgrid.host.failure import StageError
from stepgrid.host.files import IRREGULAR, open_regular, read_bytes, read_json, retry_stale
from stepgrid.model.plan import PlannedStage
from stepgrid.model.status import ActiveWork, BrokenRecord, Files, NodeStatus, PlanStatus, Result, Status
from stepgrid.store.attempts import attempt_end, write_failure
from stepgrid.store.paths import ATTEMPT_FILE, RESULT_FILE
from stepgrid.store.stage_requests import read_retraction
from stepgrid.store.store import Store

COMPLETE = (Status.DONE, Status.UNSUPPORTED)


class BrokenResult(StepgridError):
    """A result that does not hold what it must."""


class Results:
    """Results of a store; a stage whose folder stays as it is is not looked at again."""

    def __init__(self, store: Store, sound_since: float = float("-inf")) -> None:
        """`sound_since`: when all of them were found to be whole."""
        self._store, self._sound_since = store, sound_since
        self._folder = store.results_of("_").parent
        self._cache: dict[str, tuple[int, Result | None, tuple[BrokenRecord, ...]]] = {}

    def of(self, stage: PlannedStage) -> Result | None:
        try:
            changed = os.stat(f"{self._folder}/{stage.id}").st_mtime_ns  # noqa: PTH116 - ten thousand
        except OSError:
            return None
        if self._cache.get(stage.id, (None,))[0] != changed:
            self._cache[stage.id] = (changed, *self._newest(stage))
        return self._cache[stage.id][1]

    def broken(self, stage: str) -> tuple[BrokenRecord, ...]:
        """List broken results that are newer than the one that counts."""
        return self._cache[stage][2] if stage in self._cache else ()

    def _newest(self, stage: PlannedStage) -> tuple[Result | None, tuple[BrokenRecord, ...]]:
        broken: tuple[BrokenRecord, ...] = ()
        for folder in reversed(self._store.results(stage.id)):
            try:
                return self._read(folder, stage), broken
            except BrokenResult as error:
                broken = (*broken, BrokenRecord(stage.id, folder, str(error)))
        return None, broken

    def _read(self, folder: Path, stage: PlannedStage) -> Result:
        try:  # ctime: nothing but a change sets it. Without steps (unsupported, or lost) a result is read in any case
            changed = max(os.stat(f"{folder}/{name}").st_ctime for name in (RESULT_FILE, "steps"))  # noqa: PTH116
        except OSError:
            changed = float("inf")
        record = read_head(f"{folder}/{RESULT_FILE}") if changed <= self._sound_since else {}
        return _parse_result(folder, record) if record.get("status") in COMPLETE else load_result(folder, stage)


# Reading: nothing is trusted, as a kill, a copy or a hand may have left anything there.


def load_result(folder: Path, stage: PlannedStage) -> Result:
    """Read a result in full. BrokenResult: it does not hold what it must."""
    record = _read_record(folder, stage.id)
    if record["status"] == Status.UNSUPPORTED:
        return _parse_result(folder, record)
    steps = record.get("steps")
    if not isinstance(steps, list) or len(steps) != len(stage.steps):
        count = len(steps) if isinstance(steps, list) else "no"
        raise BrokenResult(f"result.json lists {count} steps, the plan has {len(stage.steps)}")
    for index, step in enumerate(steps):
        if not is_sound_step(step):
            raise BrokenResult(f"result.json holds no record of step {index} that can be read")
    return _parse_result(folder, record, tuple(steps), _step_folders(folder, len(steps)))


def _read_record(folder: Path, stage: str) -> dict[str, Any]:
    from pydantic_core import from_json  # as json.loads, in half its time

    try:
        record = from_json(read_bytes(f"{folder}/{RESULT_FILE}"))
    except FileNotFoundError:
        raise BrokenResult("result.json is missing") from None
    except (OSError, ValueError) as error:
        raise BrokenResult(f"result.json cannot be read ({error})") from None
    if not isinstance(record, dict) or record.get("status") not in COMPLETE:
        raise BrokenResult("result.json has no status that a result may have (done, unsupported)")
    if record.get("stage") != stage:
        raise BrokenResult(f"result.json is of stage {record.get('stage')}, not {stage}")
    return record


def _parse_result(
    folder: Path, record: Mapping[str, Any], steps: tuple[Any, ...] = (), folders: tuple[Path, ...] = ()
) -> Result:
    status = Status[str(record["status"]).upper()]
    reason = "" if status is Status.DONE else str(record.get("reason") or "no reason given")
    seconds = record_seconds(record) if status is Status.DONE else None
    ended = None
    with suppress(ValueError):
        ended = datetime.fromisoformat(str(record.get("ended"))).timestamp()
    waited = record.get("waited")  # older results have none
    waited = float(waited) if isinstance(waited, int | float) else 0.0
    files = record.get("files")  # whole or not at all: a record that was edited by hand holds no checksums
    entries = files.values() if isinstance(files, dict) else [None]
    has_checksums = all(isinstance(entry, dict) and {"bytes", "sha256"} <= entry.keys() for entry in entries)
    return Result(folder, status, reason, seconds, ended, waited, steps, folders, files if has_checksums else None)


def record_seconds(record: Mapping[str, Any]) -> float | None:
    """Read how long a result took; older records have no more than two times of a clock that may have been set."""
    try:
        if "seconds" in record:
            return float(record["seconds"])
        span = datetime.fromisoformat(record["ended"]) - datetime.fromisoformat(record["started"])
        return max(span.total_seconds(), 0.0)
    except (KeyError, ValueError, TypeError):
        return None


def _step_folders(result: Path, count: int) -> tuple[Path, ...]:
    """Find the folders of steps by their index: the name behind it is the label that a step had when it ran."""
    folders: dict[int, Path] = {}
    for entry in result.glob("steps/*-*"):
        index = entry.name.split("-")[0]
        if index.isdecimal() and entry.is_dir() and not entry.is_symlink():
            folders[int(index)] = entry
    for position in range(count):
        if position not in folders:
            raise BrokenResult(f"the folder of step {position} is missing under steps/")
    return tuple(folders[position] for position in range(count))


def is_sound_step(record: Any) -> bool:
    """Check a step's record: one that a hand or a damaged disk changed would end the report of all results."""
    if not isinstance(record, dict):
        return False
    counters, warnings = record.get("counters") or {}, record.get("warnings", [])
    return (
        _is_number(record.get("seconds", 0))
        and isinstance(warnings, list)
        and all(isinstance(warning, str) for warning in warnings)
        and _are_numbers(record.get("probes") or {})
        and isinstance(counters, dict)
        and all(map(_are_numbers, counters.values()))
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _are_numbers(values: Any) -> bool:
    return isinstance(values, dict) and all(value is not None and _is_number(value) for value in values.values())


HEAD_BYTES = 1000  # that hold what comes before the lists in result.json and image.json
_HEAD_FIELD = re.compile(r'^ "(status|reason|started|ended|seconds|waited|bytes)": (.+?),?$', re.MULTILINE)


def read_head(path: Path | str) -> dict[str, Any]:
    """Read the plain fields at the beginning of a long record; those that cannot be read are not there."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - of ten thousand
            head = file.read(HEAD_BYTES)
            if len(head) == HEAD_BYTES:
                file.seek(-2, os.SEEK_END)
            end = file.read() or head
    except OSError:
        return {}
    if not end.rstrip().endswith(b"}"):
        return {}  # cut off
    fields: dict[str, Any] = {}
    for name, value in _HEAD_FIELD.findall(head.decode(errors="replace")):
        with suppress(ValueError):
            fields.setdefault(name, json.loads(value))
    return fields


# Checksums of a result's files, as they were when it was published

READINGS = re.compile(r"figures\.\w+\.msgpack")  # what parsers made of the files: caches
CHUNK = 2**18  # bytes
# a file that is gone, or a disk that lost it; a lack of permission, memory or descriptors says nothing of a file
_LOST = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EIO, errno.EBADMSG, errno.EUCLEAN, *IRREGULAR)


def result_checksums(folder: Path) -> dict[str, dict[str, int | str]]:
    """Sum every file but the record and the readings; what cannot be read is published without a checksum."""
    checksums: dict[str, dict[str, int | str]] = {}
    for name in sorted(_plain_files(folder)):
        with suppress(OSError):
            if not READINGS.fullmatch(name):
                size, sha256 = _checksum(f"{folder}/{name}")
                checksums[name] = {"bytes": size, "sha256": sha256}
    return checksums


def changed_file(result: Result) -> str | None:
    """Say which file is not what was published, of a result that has checksums."""
    return checksum_difference(result.folder, result.files) if result.files else None


def checksum_difference(folder: Path, files: Files) -> str | None:
    """Say which file is the first that is not what was published. Caches and notes may have come since."""
    differences = (_file_difference(folder, name, entry) for name, entry in files.items())
    return next(filter(None, differences), None)


def _file_difference(folder: Path, name: str, entry: Mapping[str, int | str]) -> str | None:
    try:
        size, sha256 = retry_stale(lambda: _checksum(f"{folder}/{name}"))
    except OSError as error:
        if error.errno == errno.ENOENT:
            return f"`{name}` is missing"
        return f"`{name}` cannot be read ({error.strerror})" if error.errno in _LOST else None
    if size != entry["bytes"]:
        return f"`{name}` has {size} bytes, it was published with {entry['bytes']}"
    return f"the checksum of `{name}` differs from the published one" if sha256 != entry["sha256"] else None


def _checksum(path: str) -> tuple[int, str]:
    """Sum a file in half of the time that Python's file objects take: most files are small."""
    file, digest, size = open_regular(path), hashlib.sha256(), 0
    try:
        while part := os.read(file, CHUNK):
            digest.update(part)
            size += len(part)
    finally:
        os.close(file)
    return size, digest.hexdigest()


def _plain_files(folder: Path) -> Iterator[str]:
    """List files by path; hidden ones are temporary, and a pipe waits for its writer."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if not name.startswith(".") and path != folder / RESULT_FILE and path.is_file() and not path.is_symlink():
                yield str(path.relative_to(folder))


# Broken results and builds


def result_fault(result: Path, stage: PlannedStage) -> str | None:
    try:
        load_result(result, stage)
    except BrokenResult as error:
        return str(error)
    return None


def full_fault(result: Path, stage: PlannedStage) -> str | None:
    """Say what is wrong with a result, checksums of all its files included."""
    try:
        return changed_file(load_result(result, stage))
    except BrokenResult as error:
        return str(error)


def record_fault(record: Path) -> str | None:
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return f"{record.name} cannot be read ({error})"
    return None if isinstance(content, dict) else f"{record.name} holds no record"


def broken_sentence(result: Path, why: str) -> str:
    return f"the result {result} is broken: {why}; the next run measures it again"


CLOCK_SLACK = 1.0  # seconds: the clock of a file system is a little behind ours


def note_sound(store: Store, status: PlanStatus) -> None:
    """Note that all results are sound: what changes no more is not read in full again."""
    if not status.broken:
        store.note_look(status.plan.digest, status.now - CLOCK_SLACK)


def set_aside(store: Store, broken: BrokenRecord, suffix: str = ", and made again") -> str | None:
    """Move a broken result or build to the attempts, and say so; None when it is gone already."""
    with suppress(FileNotFoundError):
        attempt = store.set_aside(broken.node, broken.folder)
        write_failure(attempt, broken.node, StageError(f"it was complete, and is broken now: {broken.why}"), "broken")
        return f"{broken.folder} is broken: {broken.why}. It is kept in {attempt}{suffix}"
    return None


# All results and attempts of a stage

COUNTS = "counts"


@dataclass(frozen=True, slots=True)
class PastAttempt:
    folder: Path
    standing: str  # of a result: counts, older, retracted, broken; of an attempt: failed, interrupted, running, waiting
    status: str | None = None  # of a result: done, unsupported
    started: str | None = None
    seconds: float | None = None
    host: str | None = None
    message: str = ""  # why it was retracted, or failed, or is unsupported
    warnings: tuple[str, ...] = ()  # of its steps, with their names

    def to_json(self) -> dict[str, Any]:
        record = asdict(self) | {"folder": str(self.folder), "said": self.message}
        del record["message"]
        return record


def past_attempts(store: Store, node: NodeStatus) -> list[PastAttempt]:
    counting = node.result.folder if node.result else None
    attempts = [_past_result(folder, counting) for folder in store.all_results(node.id)]
    attempts += [_past_attempt(folder, node.work) for folder in store.attempts(node.id)]
    return sorted(attempts, key=lambda attempt: attempt.folder.name)


def _past_result(folder: Path, counting: Path | None) -> PastAttempt:
    record, retraction = read_json(folder / RESULT_FILE), read_retraction(folder)
    message = retraction.sentence if retraction else str(record.get("reason") or "")
    if retraction:
        standing = "retracted"
    elif folder == counting:
        standing = COUNTS
    else:
        standing = "broken" if counting is None or folder.name > counting.name else "older"
    status, started = _text(record, "status"), _text(record, "started")
    seconds, warnings = record_seconds(record), tuple(_warnings(record))
    return PastAttempt(folder, standing, status, started, seconds, _hostname(folder), message, warnings)


def _past_attempt(folder: Path, work: ActiveWork | None) -> PastAttempt:
    started, end = _text(read_json(folder / ATTEMPT_FILE), "started"), attempt_end([folder])
    standing, message = (str(end.status), end.sentence) if end else ("", "")
    if work and work.attempt == folder:
        standing, message = Status.WAITING if work.waits else Status.RUNNING, ""
    return PastAttempt(folder, standing, started=started, host=_hostname(folder), message=message)


def _warnings(record: Mapping[str, Any]) -> Iterator[str]:
    steps = record.get("steps")
    for step in steps if isinstance(steps, list) else ():
        texts = step.get("warnings") if isinstance(step, dict) else None
        yield from (f"{step.get('name')}: {text}" for text in (texts if isinstance(texts, list) else ()))


def _hostname(folder: Path) -> str | None:
    host = read_json(folder / ATTEMPT_FILE).get("host")
    return _text(host, "hostname") if isinstance(host, dict) else None


def _text(record: Mapping[str, Any], name: str) -> str | None:
    """Read a text; in a damaged record a field may be anything."""
    value = record.get(name)
    return value if isinstance(value, str) else None
