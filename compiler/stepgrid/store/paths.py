"""Names below outputs/ and the data folder: every folder and file of the store, and names by time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

from stepgrid.host.files import retry_stale
from stepgrid.plan.plan_file import PLAN_FILE

# Files of a build or of an attempt to make it
BUILD_FILE, CATALOGUE_FILE, BUILD_LOG = "build.json", "catalogue.json", "build.log"
# Files of an attempt of a stage; a failed build has the last of them
ATTEMPT_FILE, JOURNAL, FAILURE_FILE = "attempt.json", "journal.jsonl", "failure.json"
# Files of a result: its record, and notes that come later: that it does not count, that it counts again, who signed it
RESULT_FILE, RETRACTED, UNDONE, IMPORTED = "result.json", "retracted.json", "undone.json", "imported.json"
UNREAD_FILE = "unread.json"  # of a failed attempt: its result, once what is required is found in its output
# Files of an image; the database is in the folder `data`
IMAGE_FILE, VERIFIED, USED, DATA = "image.json", "verified.json", "used", "data"
# Files of a summary
STEPS_TABLE, SUMMARY_TEXT, SUMMARY_PAGE, SUMMARY_BRIEF = "steps.parquet", "summary.txt", "index.html", "brief.json"
STAMP = "made-by-"
# Files below locks/, beside the lock of each stage and build
RUN_LOCK, QUEUE, SKIPPED_STAGES, RESERVE = "run", "queue", "left", "reserve"


OUTPUTS = "outputs"  # in the current folder


class StorePaths:
    """Paths of one checkout. `data`: where databases are, in use and as images; every checkout has a folder there."""

    def __init__(self, root: Path | str = OUTPUTS, data: Path | str | None = None) -> None:
        self.root = Path(root)
        self.data = self.root if data is None else Path(data) / checkout_name(self.root)

    # Plans and what belongs to a request or spec; names that begin with a dot are no plans

    def plan(self, digest: str) -> Path:
        return self.root / "plans" / digest

    def request_note(self, request: str) -> Path:
        """Locate the note that says which plan a request came to, and what that depends on."""
        return self.root / "plans" / ".requests" / f"{request}.json"

    def shown_warnings(self, spec: str) -> Path:
        """Locate the note of warnings that a person has seen, and on which day."""
        return self.root / "plans" / ".shown" / f"{spec}.json"

    def file_checksums(self) -> Path:
        """Locate the cache of checksums of files that specs name."""
        return self.root / "plans" / ".checksums.json"

    def secret(self, name: str) -> Path:
        """Locate the value of a variable that plans have the digest of."""
        return self.root / "secrets" / name

    def texts(self, plan: str) -> Path:
        """Locate the sources of a plan that came here with results."""
        return self.plan(plan) / "texts"

    def has_plan(self, digest: str) -> bool:
        return (self.plan(digest) / PLAN_FILE).is_file()

    # Builds

    def build(self, build: str) -> Path:
        return self.root / "builds" / build

    def build_record(self, build: str) -> Path:
        """Locate the folder of a build's build.json; of a build that was made elsewhere that is all there is."""
        return self.build(build) if self.has_build(build) else self.records() / build

    def records(self) -> Path:
        """Locate the records of builds that were made elsewhere."""
        return self.root / "builds" / ".records"

    def has_build(self, build: str) -> bool:
        return (self.build(build) / BUILD_FILE).is_file()

    def has_record_alone(self, build: str) -> bool:
        """Tell whether a build was made elsewhere: its results came here, its programs did not."""
        return not self.has_build(build) and self.build_record(build).is_dir()

    # Results and attempts of stages and builds

    def stages_with_results(self) -> frozenset[str]:
        return names_in(self.root / "results")

    def results_of(self, stage: str) -> Path:
        return self.root / "results" / stage

    def all_results(self, stage: str) -> list[Path]:
        """List complete results, retracted ones too, oldest first."""
        # by os.path, as every command looks at those of ten thousand stages
        return [path for path in subfolders(self.results_of(stage)) if os.path.isfile(f"{path}/{RESULT_FILE}")]  # noqa: PTH113

    def results(self, stage: str) -> list[Path]:
        """List the complete results that nobody retracted, oldest first."""
        return [path for path in self.all_results(stage) if not os.path.exists(f"{path}/{RETRACTED}")]  # noqa: PTH110

    def result(self, stage: str) -> Path | None:
        return next(reversed(self.results(stage)), None)

    def attempts_of(self, node: str) -> Path:
        return self.root / "attempts" / node

    def attempts(self, node: str) -> list[Path]:
        """List attempts that left no result (running, failed, interrupted), oldest first."""
        return subfolders(self.attempts_of(node))

    def mark(self, node: str) -> Path:
        return self.root / "marks" / node

    # Notes of stages

    def redo_request(self, stage: str) -> Path:
        return self.root / "asked" / f"{stage}.json"

    def load_request(self, stage: str) -> Path:
        """Locate the request for more loads of the cell whose first load ends with this stage."""
        return self.root / "loads" / f"{stage}.json"

    def database_sizes(self, shape: str) -> Path:
        """Locate the note of how large databases became that were made by the same steps."""
        return self.root / "learnt" / f"{shape}.json"

    def lock(self, name: str) -> Path:
        return self.root / "locks" / name

    # Databases

    def image(self, stage: str) -> Path:
        return self.data / "images" / stage

    def live(self, stage: str) -> Path:
        return self.data / "live" / f"{stage}.{os.getpid()}"

    def cache(self, kind: str) -> Path:
        """Locate what clients of a kind of step derive once for all stages; made again where it is missing."""
        return self.root / "cache" / kind

    def database_folders(self) -> list[Path]:
        """List the folders of images and of databases in use."""
        return [self.data / "images", self.data / "live"]

    def folders(self, kind: str) -> list[Path]:
        """List the folders of a kind: images and live databases stay where they were when the site file changes."""
        return list(dict.fromkeys((self.root / kind, self.data / kind)))

    def leftovers(self) -> Iterator[tuple[str, Path]]:
        """List every live database and unfinished image, with the stage whose job made it."""
        folders = [folder for parent in self.folders("live") for folder in subfolders(parent)]
        folders += [folder for parent in self.folders("images") for folder in subfolders(parent, hidden=True)]
        for folder in folders:
            stage, _, process = folder.name.removeprefix(".").rpartition(".")
            if stage and process.isdecimal():
                yield stage, folder

    # Summaries and searches

    def output_notes(self) -> Path:
        """Locate the notes of files that commands wrote for `-o FILE`."""
        return self.root / "written"

    def summary(self, plan: str) -> Path:
        return self.root / "summary" / plan

    def tables(self, plan: str) -> Path:
        return self.summary(plan) / "tables"

    def verdicts(self, plan: str) -> Path:
        """Locate the verdicts and claims of the report, which name the code that made them."""
        return self.summary(plan) / "verdicts.json"

    def stamps(self, plan: str, revision: str) -> tuple[Path, Path]:
        """Locate the stamps of a plan's tables and of its report: there when this revision of the code made them."""
        return self.tables(plan) / f"{STAMP}{revision}", self.summary(plan) / f"{STAMP}{revision}"

    def bisect(self, search: str) -> Path:
        return self.root / "bisect" / search

    def unwritable(self) -> Path | None:
        """Find a folder that results, marks or reports could not be put into."""
        folders = [self.root, *subfolders(self.root)] if self.root.exists() else []
        if self.data != self.root:
            folders += [self.data, *subfolders(self.data)] if self.data.exists() else [self.data.parent]
        return next((folder for folder in folders if not os.access(folder, os.W_OK | os.X_OK)), None)


def checkout_name(root: Path) -> str:
    """Name a checkout in a shared place: its folder's name, for people, and a digest of its path."""
    outputs = root.resolve()
    return f"{outputs.parent.name}-{hashlib.sha256(os.fsencode(outputs)).hexdigest()[:8]}"


def has_store(folder: Path) -> bool:
    """Tell whether a folder holds the results of a project; some folders may be closed to us."""
    return os.path.isdir(folder / OUTPUTS / "plans")  # noqa: PTH112


def subfolders(folder: Path, hidden: bool = False) -> list[Path]:
    """List folders by name: those whose names begin with a dot, or the others."""

    def names() -> list[str]:
        try:
            with os.scandir(folder) as entries:  # says what is a folder without a look at each
                return sorted(
                    entry.name for entry in entries if entry.name.startswith(".") == hidden and entry.is_dir()
                )
        except FileNotFoundError:
            return []

    return [folder / name for name in retry_stale(names)]


def names_in(folder: Path | str) -> frozenset[str]:
    """List a folder in half the time that Path takes; empty where it is not there."""
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return frozenset()


File: TypeAlias = tuple[int, int]  # device, inode


class Blocks(NamedTuple):
    """Disk space of one stored file."""

    bytes: int
    names: int  # that it has here
    links: int  # that it has anywhere


def stored_files(*folders: Path) -> dict[File, Blocks]:
    files: dict[File, Blocks] = {}
    for parent, _, names in chain.from_iterable(map(os.walk, folders)):
        for name in names:
            with suppress(OSError):  # removed meanwhile
                status = os.lstat(f"{parent}/{name}")
                key = status.st_dev, status.st_ino
                count = files[key].names + 1 if key in files else 1
                files[key] = Blocks(status.st_blocks * 512, count, status.st_nlink)
    return files


def folder_bytes(*folders: Path) -> int:
    """Add up all files below these folders, as they are stored; a file with several names counts once."""
    return sum(blocks.bytes for blocks in stored_files(*folders).values())


# Attempts and results are named by time. What comes later looks later, also when the clock was set back in between.

ROUND_FOLDER = "round-"  # and its number: in the folder of a step that runs again and again beside another one
FIGURES_DIGEST = 32  # bytes that a file of figures begins with: the SHA-256 of all others

TIME_FORMAT = "%Y%m%dT%H%M%S.%fZ"
TIME_PATTERN = r"\d{8}T\d{6}\.\d{6}Z"
LAST_TIME = datetime.max.strftime(TIME_FORMAT)  # nothing sorts after it
_STEP = timedelta(microseconds=1)
_CLOCK_DIFFERENCE = timedelta(days=1)  # between the clocks of two hosts


def now() -> str:
    return datetime.now(UTC).isoformat()


def parse_time_name(name: str) -> datetime | None:
    try:
        return datetime.strptime(name, TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def next_time_name(names: Iterable[str]) -> str:
    """Name the present time so that it sorts after the names that are there."""
    times = [datetime.now(UTC)]
    times += [time + _STEP for name in names if name != LAST_TIME and (time := parse_time_name(name))]
    return max(times).strftime(TIME_FORMAT)


def future_fault(name: str) -> str | None:
    """Say why a name from another host is no time, or one that ours would have to wait for."""
    if (time := parse_time_name(name)) is None:
        return "is named by no time"
    if time > datetime.now(UTC) + _CLOCK_DIFFERENCE:
        return "lies more than a day in the future: the clock of its host was wrong"
    return None


def make_newer(paths: Iterable[Path], evidence: Iterable[Path]) -> None:
    """Set the times of files that were just made after those of what they were made of, or make out of date."""
    newest = max(map(modification_time, evidence), default=0)
    later = newest + _STEP.microseconds * 1000
    for path in paths:
        if modification_time(path) <= newest:
            with suppress(OSError):
                os.utime(path, ns=(later, later))


def modification_time(path: Path) -> int:
    """Read when a file was written, in nanoseconds; 0 where it is not there."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
