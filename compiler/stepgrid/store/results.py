"""Results of stages: the newest that is whole counts. A broken one is lost, kept aside, and measured again.

A result.json has checksums of the files beside it."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stepgrid.errors import StepgridError
from stepgrid.host.failure import StageError
from stepgrid.host.files import IRREGULAR, find_record, load_record, open_regular, retry_stale
from stepgrid.model.plan import PlannedStage
from stepgrid.model.records import BuildRecord, Files, ResultRecord, StoredFile, unix_time
from stepgrid.model.status import BrokenRecord, Result, Status
from stepgrid.store.attempts import write_failure
from stepgrid.store.paths import RESULT_FILE
from stepgrid.store.store import Store


class BrokenResult(StepgridError):
    """A result that does not hold what it must."""


class Results:
    """Results of a store; a stage whose folder stays as it is is not looked at again."""

    def __init__(self, store: Store) -> None:
        self._store, self._folder = store, store.results_of("_").parent
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
                return load_result(folder, stage), broken
            except BrokenResult as error:
                broken = (*broken, BrokenRecord(stage.id, folder, str(error)))
        return None, broken


# Reading: nothing is trusted, as a kill, a copy or a hand may have left anything there.


def load_result(folder: Path, stage: PlannedStage) -> Result:
    """Read a result. BrokenResult: it does not hold what it must."""
    try:
        record = load_record(folder / RESULT_FILE, ResultRecord)
    except FileNotFoundError:
        raise BrokenResult("result.json is missing") from None
    except (OSError, ValueError) as error:
        raise BrokenResult(f"result.json cannot be read ({error})") from None
    if record.stage != stage.id:
        raise BrokenResult(f"result.json is of stage {record.stage}, not {stage.id}")
    ended, status = unix_time(record.ended), Status[record.status.upper()]
    if status is Status.UNSUPPORTED:
        return Result(folder, status, record.reason or "no reason given", None, ended, record.waited)
    if len(record.steps) != len(stage.steps):
        raise BrokenResult(f"result.json lists {len(record.steps)} steps, the plan has {len(stage.steps)}")
    folders = _step_folders(folder, len(record.steps))
    return Result(folder, status, "", record.seconds, ended, record.waited, record.steps, folders, record.files)


def result_record(folder: Path) -> ResultRecord | None:
    """Read result.json; None where it is missing or damaged."""
    return find_record(folder / RESULT_FILE, ResultRecord)


def result_seconds(folder: Path | None) -> float:
    """Read how long a result took; 0 where that is unknown."""
    record = result_record(folder) if folder else None
    return (record.seconds if record else None) or 0.0


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


# Checksums of a result's files, as they were when it was published

READINGS = re.compile(r"figures\.\w+\.msgpack")  # what parsers made of the files: caches
CHUNK = 2**18  # bytes
# a file that is gone, or a disk that lost it; a lack of permission, memory or descriptors says nothing of a file
_LOST = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EIO, errno.EBADMSG, errno.EUCLEAN, *IRREGULAR)


def result_checksums(folder: Path) -> dict[str, StoredFile]:
    """Sum every file but the record and the readings; what cannot be read is published without a checksum."""
    checksums: dict[str, StoredFile] = {}
    for name in sorted(_plain_files(folder)):
        with suppress(OSError):
            if not READINGS.fullmatch(name):
                checksums[name] = _checksum(f"{folder}/{name}")
    return checksums


def changed_file(result: Result) -> str | None:
    """Say which file is not what was published, of a result that has checksums."""
    return checksum_difference(result.folder, result.files) if result.files else None


def checksum_difference(folder: Path, files: Files) -> str | None:
    """Say which file is the first that is not what was published. Caches and notes may have come since."""
    differences = (_file_difference(folder, name, entry) for name, entry in files.items())
    return next(filter(None, differences), None)


def _file_difference(folder: Path, name: str, entry: StoredFile) -> str | None:
    try:
        state = retry_stale(lambda: _checksum(f"{folder}/{name}"))
    except OSError as error:
        if error.errno == errno.ENOENT:
            return f"`{name}` is missing"
        return f"`{name}` cannot be read ({error.strerror})" if error.errno in _LOST else None
    if state.bytes != entry.bytes:
        return f"`{name}` has {state.bytes} bytes, it was published with {entry.bytes}"
    return None if state == entry else f"the checksum of `{name}` differs from the published one"


def _checksum(path: str) -> StoredFile:
    """Sum a file in half of the time that Python's file objects take: most files are small."""
    file, digest, size = open_regular(path), hashlib.sha256(), 0
    try:
        while part := os.read(file, CHUNK):
            digest.update(part)
            size += len(part)
    finally:
        os.close(file)
    return StoredFile(size, digest.hexdigest())


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


def build_fault(record: Path) -> str | None:
    try:
        load_record(record, BuildRecord)
    except (OSError, ValueError) as error:
        return f"{record.name} cannot be read ({error})"
    return None


def broken_sentence(result: Path, why: str) -> str:
    return f"the result {result} is broken: {why}; the next run measures it again"


def set_aside(store: Store, broken: BrokenRecord, suffix: str = ", and made again") -> str | None:
    """Move a broken result or build to the attempts, and say so; None when it is gone already."""
    with suppress(FileNotFoundError):
        attempt = store.set_aside(broken.node, broken.folder)
        write_failure(attempt, broken.node, StageError(f"it was complete, and is broken now: {broken.why}"), "broken")
        return f"{broken.folder} is broken: {broken.why}. It is kept in {attempt}{suffix}"
    return None


# All results and attempts of a stage
