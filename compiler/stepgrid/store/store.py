"""The only ways to publish below outputs/ and in the data folder: by rename, after all bytes are on the disk."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple, TextIO

from stepgrid.host import files
from stepgrid.host.files import make_folder, read_record, remove_tree, sync, sync_tree, write_json, write_text
from stepgrid.host.locks import locked
from stepgrid.host.terminal_output import Paint, plain, text_width
from stepgrid.model.plan import BUILD_PREFIX
from stepgrid.model.records import Record
from stepgrid.package import PACKAGE, TEMPLATES
from stepgrid.store.paths import (
    BUILD_FILE,
    BUILD_LOG,
    JOURNAL,
    RESULT_FILE,
    STAMP,
    STEPS_TABLE,
    SUMMARY_BRIEF,
    SUMMARY_PAGE,
    SUMMARY_TEXT,
    StorePaths,
    make_newer,
    next_time_name,
    now,
    subfolders,
)

BRIEF_WIDTHS = 80, 100  # columns that the end of a run is written for
MARK_VARIABLE, LOG_VARIABLE = "STEPGRID_MARK", "STEPGRID_LOG"  # links that the rule of a job waits for, and shows


class Store(StorePaths):
    # Plans and caches of requests

    def publish_plan(
        self, digest: str, write: Callable[[Path], object], intact: Callable[[Path], bool] = Path.is_dir
    ) -> None:
        """Publish a plan's folder, which `write` makes; one that is there is the same, unless it was damaged."""
        target = self.plan(digest)
        if intact(target):
            return
        staged = target.with_name(f".{digest}.{files.temporary_suffix()}~")
        make_folder(target.parent)
        remove_tree(staged)
        write(staged)
        sync_tree(staged)
        if target.is_dir() and not intact(target):
            remove_tree(target)
        try:
            os.rename(staged, target)
        except OSError:  # another process published it first
            remove_tree(staged)
        sync(target.parent)

    def keep_secret(self, name: str, value: str) -> None:
        """Write the value of a secret for jobs, readable by its owner alone."""
        path = self.secret(name)
        if not os.access(path, os.R_OK):  # missing, or another user's of this checkout
            make_folder(path.parent)
            with files.replacing(path) as new:
                new.touch(mode=0o600)
                new.chmod(0o600)
                new.write_text(value, encoding="utf-8", newline="")

    def read_secret(self, name: str) -> str:
        """Read the value of a secret; LookupError: it is not here."""
        try:
            return self.secret(name).read_bytes().decode()
        except (OSError, UnicodeError):
            raise LookupError(
                f"{self.secret(name)}, the value of a secret, is missing: run with the spec again"
            ) from None

    def checksums(self) -> dict[str, tuple[str, str]]:
        """Read marks and checksums of files that were read before, by path."""
        return read_record(self.file_checksums(), dict[str, tuple[str, str]])

    def note_checksums(self, checksums: Mapping[str, tuple[str, str]]) -> None:
        """Add checksums that have a mark to the cache; files that are gone leave it."""
        new = {os.path.abspath(path): entry for path, entry in checksums.items() if entry[0]}  # noqa: PTH100 - keeps links
        cached = self.checksums()
        if any(cached.get(path) != entry for path, entry in new.items()):
            present = {path: entry for path, entry in cached.items() if Path(path).exists()}
            write_note(self.file_checksums(), present | new)

    # Attempts, results and builds

    def sweep(self) -> None:
        """Remove what dead processes left. The run lock is held; images have locks of their own."""
        for kind in ("plans", "marks", "builds", "results", "attempts"):
            files.sweep_temporary(self.root / kind)
        files.sweep_below(self.root / "summary")  # plans that are not summarized again, too

    def new_attempt(self, node: str) -> Path:
        folder = self.attempts_of(node) / self._next_name(node)
        make_folder(folder)
        _link_log(node, folder)
        return folder

    def _next_name(self, node: str) -> str:
        """Name an attempt: the last by name of all attempts and results of a node is the newest."""
        return next_time_name(path.name for path in (*self.attempts(node), *subfolders(self.results_of(node))))

    def publish_result(self, stage: str, attempt: Path) -> Path:
        """Rename an attempt that holds result.json to a result. May be called again where there was no room."""
        target = self.results_of(stage) / attempt.name
        if attempt.exists():
            make_newer([attempt / RESULT_FILE], self.root.glob(f"summary/*/{STAMP}*"))
            publish_folder(attempt, target)
        self.set_mark(stage, target / RESULT_FILE)
        return target

    def publish_build(self, build: str, attempt: Path) -> Path:
        """Rename an attempt that holds build.json to the build."""
        target = self.build(build)
        publish_folder(attempt, target)
        self.set_mark(build, target / BUILD_FILE)
        return target

    @contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """Give a folder to prepare an import in. An import that was killed leaves one; the next import removes it."""
        with locked(self.lock(name)):
            for folder in self.attempts(name):
                remove_tree(folder)
            staged = self.new_attempt(name)
            try:
                yield staged
            finally:
                remove_tree(staged)
                with suppress(OSError):  # not empty: something could not be removed
                    self.attempts_of(name).rmdir()

    def publish_import(self, source: Path, target: Path) -> bool:
        """Publish a verified folder that another checkout made; one that is there already stays."""
        if target.exists():
            return False
        publish_folder(source, target)
        return True

    def set_aside(self, node: str, folder: Path) -> Path:
        """Rename a broken result or build to an attempt; its mark goes first."""
        name = folder.name if folder.parent.name == node else self._next_name(node)
        target = self.attempts_of(node) / name
        self.drop_mark(node)
        make_folder(target.parent)
        os.rename(folder, target)
        sync(target.parent)
        return target

    # Databases

    def new_live(self, stage: str) -> Path:
        """Make the folder of a database that is about to be used, and return its absolute path."""
        if self.data != self.root:  # a link that leads nowhere is left of a checkout that is gone
            make_folder(self.data)
            with suppress(FileExistsError):
                (self.data / "outputs").symlink_to(self.root.resolve())
        folder = self.live(stage).resolve()
        folder.mkdir(parents=True)
        return folder

    def new_image(self, owner: str) -> Path:
        """Make the folder in which the job of stage `owner` puts an image together: its own, or one it replays."""
        folder = self.data / "images" / f".{owner}.{os.getpid()}" / "new"
        make_folder(folder)
        return folder

    def publish_image(self, stage: str, staged: Path) -> None:
        """Rename the staged folder to the image; an older image makes room and is removed."""
        target = self.image(stage)
        sync_tree(staged)
        if target.exists():
            os.rename(target, staged.with_name("old"))
        os.rename(staged, target)
        sync(target.parent)
        self.drop_image(staged)

    def discard_image(self, owner: str, stage: str) -> None:
        """Rename an image out of the way, then remove it; called by the job of stage `owner`."""
        staged = self.new_image(owner)
        os.rename(self.image(stage), staged.with_name("old"))
        self.drop_image(staged)

    def drop_image(self, staged: Path) -> None:
        """Remove the folder in which an image was put together; the next job sweeps what cannot be removed now."""
        with suppress(OSError):
            remove_tree(staged.parent)

    # Marks

    def set_mark(self, node: str, target: Path) -> None:
        _link(self.mark(node), target)
        _link_log(node, target.parent)
        if path := os.environ.get(MARK_VARIABLE):
            _link(Path(path), target)

    def drop_mark(self, node: str) -> None:
        self.mark(node).unlink(missing_ok=True)

    def drop_named_marks(self, plan: str, all_of_them: bool) -> None:
        """Remove marks of deleted results, or all: Snakemake gives up on an output that is a link to nowhere."""
        for mark in self.mark(plan).glob("*s/*"):
            if all_of_them or not mark.exists():
                mark.unlink(missing_ok=True)

    # Summaries

    def drop_stamps(self, plan: str) -> None:
        """Make a summary out of date, before its tables are made again."""
        for stamp in self.summary(plan).rglob(f"{STAMP}*"):
            stamp.unlink(missing_ok=True)
        files.sweep_below(self.summary(plan))

    def stamp_tables(self, plan: str, revision: str, results: Iterable[Path] = ()) -> None:
        """Say which code made the tables, of these records of results."""
        stamp = self.stamps(plan, revision)[0]
        write_text(stamp, f"{now()}\n")
        make_newer((*stamp.parent.glob("*.parquet"), stamp), results)

    def stamp_report(self, plan: str, revision: str) -> None:
        tables, stamp = self.stamps(plan, revision)
        write_text(stamp, f"{now()}\n")
        make_newer((*self.summary(plan).glob("*.*"), stamp), [tables])


def publish_folder(folder: Path, target: Path) -> None:
    make_folder(target.parent)
    sync_tree(folder)
    os.rename(folder, target)
    sync(target.parent)


def write_note(path: Path, note: Record | Mapping[str, object]) -> None:
    make_folder(path.parent)
    write_json(path, note)


def _link(path: Path, target: Path) -> None:
    """Publish a relative link by rename."""
    make_folder(path.parent)
    new = path.with_name(f".{path.name}.{files.temporary_suffix()}")
    new.unlink(missing_ok=True)
    new.symlink_to(os.path.relpath(target, path.parent))
    os.replace(new, path)
    sync(path.parent)


def _link_log(node: str, folder: Path) -> None:
    if path := os.environ.get(LOG_VARIABLE):
        with suppress(OSError):  # it is for people
            _link(Path(path), folder / (BUILD_LOG if node.startswith(BUILD_PREFIX) else JOURNAL))


class PastStore(Store):
    """A store as it was at some time: later results are not in it, and nothing is written into it."""

    def __init__(self, store: Store, until: str, summaries: Path) -> None:
        """`until`: what `time_name_prefix` makes of a date; `summaries`: a folder for its tables."""
        self.root, self.data = store.root, store.data
        self._until, self._summaries = until, summaries

    def all_results(self, stage: str) -> list[Path]:
        return [path for path in super().all_results(stage) if path.name[: len(self._until)] <= self._until]

    def summary(self, plan: str) -> Path:
        return self._summaries / plan


_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d))?)?)?Z?")


def time_name_prefix(text: str) -> str | None:
    """Convert a date (2026-11-20), or one with a time of day (UTC), to the beginning of names until its end."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, *clock = match.groups()
    return f"{year}{month}{day}" + (f"T{''.join(part for part in clock if part)}" if clock[0] else "")


class SummaryFiles(NamedTuple):
    """Files that a run makes of the results of a plan."""

    tables: Path
    text: Path
    page: Path
    stamps: tuple[Path, Path]  # of the tables and of the report: there when the code as it is made them

    @classmethod
    def of(cls, store: Store, plan: str) -> SummaryFiles:
        folder, tables = store.summary(plan), store.tables(plan) / STEPS_TABLE
        return cls(tables, folder / SUMMARY_TEXT, folder / SUMMARY_PAGE, store.stamps(plan, revision()))

    @property
    def oldest_time(self) -> float:
        """Read when the first of them was made; OSError unless all are there."""
        return min(path.stat().st_mtime for path in (self.tables, self.text, self.page, *self.stamps))

    @property
    def brief_text(self) -> str:
        """Read the narrow lines for the end of a run, without colours."""
        lines = read_record(self.page.with_name(SUMMARY_BRIEF), dict[str, list[str]])
        return plain("\n".join(lines.get(str(min(BRIEF_WIDTHS)), [str(self.page)])))

    def brief(self, stream: TextIO, note: str = "") -> str:
        """Read the lines for the end of a run; the note stands behind the title where there is room."""
        width = brief_width(stream)
        lines = read_record(self.page.with_name(SUMMARY_BRIEF), dict[str, list[str]]).get(str(width), [str(self.page)])
        room = width - len(plain(lines[0])) - len(note)
        if note and room > 1:
            lines[0] += " " * room + note
        text = "\n".join(lines)
        return text if Paint.for_stream(stream).is_coloured else plain(text)


def brief_width(stream: TextIO) -> int:
    """Return the columns of a brief for a stream."""
    narrow, wide = BRIEF_WIDTHS
    return wide if text_width(stream, wide) >= wide else narrow


# The revision of the code that makes a summary is its content, so that a parser's fix makes summaries again although
# nobody raised a number.

SUMMARY_SOURCES = (
    "stepgrid/model",
    "stepgrid/plugins",
    "stepgrid_answers",
    "stepgrid_databases",
    "stepgrid_investigate",
    "stepgrid_page",
    "stepgrid/collect",
    "stepgrid/summarize",
    "stepgrid/store/attempts.py",
    "stepgrid/store/results.py",
    "stepgrid/store/status.py",
)
REVISION_LENGTH = 12
REVISION_VARIABLE = "STEPGRID_REVISION"  # what the run that started a job asks for: code may be edited during a run


@cache
def revision() -> str:
    if set_by_run := os.environ.get(REVISION_VARIABLE):
        return set_by_run
    from stepgrid.plugins.registry import (  # not for jobs that measure
        COLLECTORS,
        DRIVERS,
        ENGINES,
        LAYOUTS,
        foreign_packages,
    )

    paths = [path for part in SUMMARY_SOURCES for path in python_files(PACKAGE.parent / part)]
    paths += [path for path in (TEMPLATES / "report").rglob("*") if path.is_file()]
    sources = {str(path.relative_to(PACKAGE.parents[1])): path for path in paths}
    for package, folders in foreign_packages(ENGINES, DRIVERS, COLLECTORS, LAYOUTS).items():  # with their versions
        for folder in folders:
            sources |= {f"{package}/{path.relative_to(folder.parent)}": path for path in python_files(folder)}
    return source_digest(sources)


def python_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [*path.rglob("*.py")]


def source_digest(sources: Mapping[str, Path]) -> str:
    """Digest names and contents of files."""
    total = hashlib.sha256()
    for name, path in sorted(sources.items()):
        total.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:REVISION_LENGTH]
