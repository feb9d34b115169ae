"""The job of a stage, its attempt from the first line of the journal to a result or a failure, and files of steps."""

from __future__ import annotations

import json
import os
import platform
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePath
from typing import IO, Any, NamedTuple

from msgspec import Struct

from stepgrid.build.record import absolute
from stepgrid.host import cluster_job, facts
from stepgrid.host.activity import FirstReading
from stepgrid.host.disk import PROBE, is_disk_full
from stepgrid.host.failure import StageError, end_of_log, explaining_log
from stepgrid.host.files import load_record, modification_times, open_regular, scan, write_json
from stepgrid.host.locks import LockBusy, locked
from stepgrid.host.processes import signals
from stepgrid.host.processes.signals import MARK
from stepgrid.host.processes.supervision import ProcessEnd, describe_exit
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.records import AttemptRecord, BuildRecord, Complete, Facts, Json, ResultRecord, StepRecord, replace
from stepgrid.model.site import Site
from stepgrid.model.status import Status
from stepgrid.plan import plan_file
from stepgrid.store import active_run, results
from stepgrid.store.active_run import DiskFull, full_disk_sentence, with_reserve
from stepgrid.store.attempts import write_failure
from stepgrid.store.paths import ATTEMPT_FILE, BUILD_FILE, FAILURE_FILE, JOURNAL, RESULT_FILE, UNREAD_FILE, now
from stepgrid.store.store import Store

BEGUN = "begun"  # its first event; before it the attempt waits for the host


class InstalledBuild(NamedTuple):
    record: BuildRecord
    programs: Mapping[str, tuple[str, ...]]  # program -> argv prefix, with absolute paths

    @property
    def version(self) -> str:
        return self.record.version


class Job(Struct, frozen=True, dict=True):
    """A stage of a plan with its builds, to be run on this host."""

    store: Store
    plan: str
    stage: PlannedStage
    site: Site = Site()
    first: FirstReading | None = None  # of the host's activity
    _plan: Plan | None = None
    _builds: dict[str, InstalledBuild] = {}

    @classmethod
    def load(
        cls, store: Store, plan: str, stage: str, site: Site | None = None, first: FirstReading | None = None
    ) -> Job:
        whole_plan = plan_file.read(store.plan(plan))
        return cls(store, plan, whole_plan.stage(stage), site or Site(), first, whole_plan)

    @cached_property
    def whole_plan(self) -> Plan:
        return self._plan or plan_file.read(self.store.plan(self.plan))

    @cached_property
    def stages(self) -> Mapping[str, PlannedStage]:
        return {stage.id: stage for stage in self.whole_plan.stages}

    @cached_property
    def build(self) -> PlannedBuild:
        return self.whole_plan.build(self.stage.build)

    @property
    def engine(self) -> InstalledBuild:
        return self.installed_build(self.stage.build)

    def installed_build(self, build: str) -> InstalledBuild:
        """Read the engine's build, or that of a step's client."""
        if build not in self._builds:
            record, folder = self._read_record(build), self.store.build(build).resolve()
            programs = {name: absolute(folder, prefix) for name, prefix in record.programs.items()}
            self._builds[build] = InstalledBuild(record, programs)
        return self._builds[build]

    def _read_record(self, build: str) -> BuildRecord:
        path = self.store.build(build) / BUILD_FILE
        try:
            return load_record(path, BuildRecord)
        except FileNotFoundError:
            name = self.whole_plan.build(build).name
            raise StageError(f"the build {name} is not there ({path}); make it first") from None
        except ValueError:
            raise StageError(f"{path} is damaged; run the same command again, which makes the build again") from None

    def ancestors(self) -> list[PlannedStage]:
        """List the stages before this one, root first."""
        chain: list[PlannedStage] = []
        parent = self.stage.parent
        while parent is not None:
            chain.append(self.stages[parent])
            parent = chain[-1].parent
        return chain[::-1]


class Attempt:
    """A run of a stage."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.folder = job.store.new_attempt(job.stage.id)
        os.environ[MARK] = str(self.folder.absolute())  # for all that this job starts
        self.started = now()
        self._began = time.monotonic()  # the clock of the wall may be set meanwhile
        self._waited = 0.0
        self.steps: list[StepRecord] = []
        self.unread: StageError | None = None  # what is required, and was not found in the output of the last step
        self._record = AttemptRecord(
            stage=job.stage.id,
            attempt=self.folder.name,
            plan=job.plan,
            build=job.stage.build,
            clients=job.stage.clients,
            started=self.started,
            pid=os.getpid(),
            hostname=platform.node(),
            cluster_node=cluster_job.node() if cluster_job.active() else "",
        )
        self.note()

    def note(self, **fields: Any) -> None:
        """Add to attempt.json."""
        self._record = replace(self._record, **fields)
        write_json(self.folder / ATTEMPT_FILE, self._record, durable=False)

    def describe_host(self, data: Path) -> Facts:
        device = self.job.site.device
        hardware = facts.hardware(data, device)
        person = {"measured_by": name} if (name := self.job.site.measured_by) else {}
        self.note(host={**facts.facts(data, device), **person, "hardware": hardware})
        return hardware

    def note_host(self, facts: Mapping[str, Json]) -> None:
        self.note(host={**self._record.host, **facts})

    def end_wait(self) -> None:
        """Note that the host is ours now."""
        self._waited = time.monotonic() - self._began

    def begin(self, **fields: Any) -> None:
        """Start the clock. `fields`: what else attempt.json gets."""
        self.started, self._began = now(), time.monotonic()
        self.note(started=self.started, **fields)
        self.journal(BEGUN)

    def journal(self, event: str, **fields: Any) -> None:
        line = json.dumps({"t": round(time.time(), 3), "event": event, **fields})
        with (self.folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def publish(self, status: Complete, reason: str | None = None) -> Path:
        result, store = self._result(status, reason), self.job.store
        try:
            with_reserve(store, lambda: write_json(self.folder / RESULT_FILE, result))
            return with_reserve(store, lambda: store.publish_result(self.job.stage.id, self.folder))
        except DiskFull as full:
            raise StageError(str(full)) from None

    def keep_unread(self) -> None:
        """Keep what would be the result, for a spec that reads the output in another way."""
        write_json(self.folder / UNREAD_FILE, self._result("done", None))

    def _result(self, status: Complete, reason: str | None) -> ResultRecord:
        return ResultRecord(
            stage=self.job.stage.id,
            attempt=self.folder.name,
            status=status,
            reason=reason,
            started=self.started,
            ended=now(),
            seconds=round(time.monotonic() - self._began, 3),
            waited=round(self._waited, 3),
            build=self.job.stage.build,
            steps=tuple(self.steps),
            files=results.result_checksums(self.folder),
        )

    def fail(self, failure: StageError, status: str = Status.FAILED) -> None:
        with_reserve(self.job.store, lambda: write_failure(self.folder, self.job.stage.id, failure, status))


def refuse(job: Job, error: OSError) -> StageError:
    """Write a failure, with the space kept in reserve, for a stage whose attempt could not begin, or end."""
    node, full = job.stage.id, is_disk_full(error)
    failure = StageError(full_disk_sentence(job.store) if full else f"the system refused: {error}")
    if full:
        active_run.release_reserve(job.store)
    with suppress(OSError, LockBusy), locked(job.store.lock(node), wait=False):
        last = job.store.attempts(node)[-1:]
        begun = next((folder for folder in last if not (folder / FAILURE_FILE).exists()), None)
        write_failure(begun or job.store.new_attempt(node), node, failure, Status.FAILED)
    return failure


def close_abandoned(store: Store, stage: str) -> None:
    """Close attempts whose runner was killed. Call it with the stage's lock held, so that none can be running."""
    for folder in store.attempts(stage):
        if not (folder / FAILURE_FILE).exists():
            signals.kill_attempt(folder / JOURNAL, (store.root, store.data))
            write_failure(folder, stage, StageError("the process that ran it was killed"), Status.INTERRUPTED)


# Programs beside a step: how one ended


def describe_failure(ended: ProcessEnd, deadline: float) -> str | None:
    """Say how a program failed; None if it ended well."""
    if ended.overdue:
        return f"did not end within {deadline:g} s"
    return describe_exit(ended.exit) if ended.exit else None


def last_line(folder: Path) -> str:
    """Quote the last line that a program wrote, as the end of a sentence."""
    line = end_of_log(explaining_log(folder)).rpartition("\n")[2]
    return f": {line}" if line else ""


# The folder of a step: files that its command needs, that are kept, and that its program may not replace

FILES = ("command.json", "stdout", "stderr", "samples.jsonl", "step.json", PROBE)
FOLDERS = COLLECTORS_FOLDER, PROBES_FOLDER, STATISTICS_FOLDER = "collectors", "probes", "statistics"
BEFORE, AFTER = "before", "after"  # a step: when probes run, and when statistics are read
MOST_BYTES = 2 * 2**20  # of a kept file; of a larger one the first half of that and the last


def is_real(folder: Path) -> bool:
    """Check that no link leads to a folder that exists, or is about to be made."""
    return os.path.realpath(folder) == os.path.abspath(folder)  # noqa: PTH100 - resolve() follows links


class StepFolder:
    """A step's folder as it was when its program started: nothing is written or read through what that put there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = os.path.realpath(folder)
        self._identity = self._read_identity()

    def fault(self) -> str | None:
        """Name what the program put in the way of the runner, in a sentence."""
        folder, record = self._read_identity()
        if os.path.realpath(self._folder) != self._path or folder not in (None, self._identity[0]):
            return "it replaced its folder, where its output is kept: let it write into that folder"
        for names, is_type, expected in ((FILES, stat.S_ISREG, "a file"), (FOLDERS, stat.S_ISDIR, "a folder")):
            for path in (self._folder / name for name in names):
                if os.path.lexists(path) and not is_type(path.lstat().st_mode):
                    return f"it put something else in place of {path.name}, {expected} of stepgrid: use another name"
        if folder and record != self._identity[1]:
            return "it changed command.json, a file of stepgrid: use another name"
        return None

    def _read_identity(self) -> tuple[tuple[int, int] | None, tuple[int, int, int] | None]:
        """Identify the folder, and the record of the command in it."""
        try:
            folder = self._folder.lstat()
        except OSError:
            return None, None
        try:
            record = (self._folder / "command.json").lstat()
        except OSError:
            return (folder.st_dev, folder.st_ino), None
        return (folder.st_dev, folder.st_ino), (record.st_ino, record.st_size, record.st_mtime_ns)


def attach(folder: Path, files: Mapping[str, str], mode: int = 0o600) -> None:
    """Write files that a command needs."""
    for name, text in files.items():
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def forget(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


def keep_database_files(folder: Path, data: Path, names: Iterable[str]) -> None:
    """Copy files of the live database that a step's command names, an engine's own log, as far as they exist."""
    for name in names:
        target = folder / Path(name).name
        with suppress(OSError), os.fdopen(open_regular(data / name), "rb") as source:  # figures stand without it
            target.unlink(missing_ok=True)  # of an earlier program, maybe a link
            with target.open("xb") as copy:
                _copy_ends(source, copy)


def _copy_ends(source: IO[bytes], copy: IO[bytes]) -> None:
    size, half = os.fstat(source.fileno()).st_size, MOST_BYTES // 2
    if size <= MOST_BYTES:
        copy.write(source.read(MOST_BYTES))
    else:
        copy.write(source.read(half))
        copy.write(f"\n… {size - MOST_BYTES} bytes are left out here …\n".encode())
        source.seek(size - half)
        copy.write(source.read(half))


# Changes of a database by a step that is not `mutates: true`

CHANGED = "the database changed: say `mutates: true`, as later steps use it"


def database_files(data: Path, bookkeeping: Sequence[str]) -> Mapping[str, tuple[int, int]]:
    """Map files of a database to their sizes and times; `bookkeeping`: patterns of those written at any opening."""
    tree = scan(data)
    try:
        times = modification_times(data, tree)
    except FileNotFoundError:  # a process that the step left behind removes files
        return {}
    return {
        name: (size, times[name])
        for name, size in tree.files.items()
        if not any(PurePath(name).match(pattern) for pattern in bookkeeping)
    }


def has_changed(files: Mapping[str, tuple[int, int]], later_files: Mapping[str, tuple[int, int]], began: int) -> bool:
    """Compare the files of a database with what they were when a step began (ns); call it when the step has ended.

    What is written in place counts in the second half of the step: when SQLite opens a file, it may write its journal
    mode into the header."""
    middle = (began + time.time_ns()) / 2
    sizes, later_sizes = ({name: size for name, (size, _) in listed.items()} for listed in (files, later_files))
    return sizes != later_sizes or any(
        written > middle for name, (_, written) in later_files.items() if files[name][1] != written
    )
