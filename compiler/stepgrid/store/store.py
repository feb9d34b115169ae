"""The only ways to publish under outputs/ and in the data folder. Nothing else writes there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stepgrid.host import files
from stepgrid.host.files import make_folder, remove_tree, sync, sync_tree, write_json, write_text
from stepgrid.model.plan import BUILD_PREFIX
from stepgrid.store import timestamps
from stepgrid.store.folders import below, publish
from stepgrid.store.paths import STAMP, StorePaths

LOOKED = "results-are-sound"
ATTEMPT = timestamps.NAME
NAMED, NAMED_LOG = "STEPGRID_MARK", "STEPGRID_LOG"  # the links that the rule of a job waits for, and shows


def _link(path: Path, target: Path) -> None:
    """Relative, published by rename."""
    make_folder(path.parent)
    new = path.with_name(f".{path.name}.{files.temporary_suffix()}")
    new.unlink(missing_ok=True)
    new.symlink_to(os.path.relpath(target, path.parent))
    os.replace(new, path)
    sync(path.parent)


class Store(StorePaths):
    def publish_plan(
        self, digest: str, write: Callable[[Path], None], intact: Callable[[Path], bool] = Path.is_dir
    ) -> None:
        """`write` makes the plan's folder; a plan that is there already is the same plan, unless it was damaged."""
        target = self.plan(digest)
        if intact(target):
            return
        staged = target.with_name(f".{digest}.{files.temporary_suffix()}~")
        make_folder(target.parent)
        write(staged)
        sync_tree(staged)
        if target.is_dir() and not intact(target):
            remove_tree(target)
        try:
            os.rename(staged, target)
        except OSError:  # another process published it first
            remove_tree(staged)
        sync(target.parent)

    def remember(self, request: str, kept: Mapping[str, Any]) -> None:
        path = self.remembered(request)
        make_folder(path.parent)
        write_json(path, kept)

    def note_shown_warnings(self, spec: str, kept: Mapping[str, Any]) -> None:
        path = self.shown_warnings(spec)
        make_folder(path.parent)
        write_json(path, kept)

    def checksums(self) -> dict[str, tuple[str, str]]:
        """Path -> mark and checksum, of files that were read before."""
        found = files.read_json(self.known_checksums())
        return {path: (str(mark), str(known)) for path, (mark, known) in found.items()}

    def note_checksums(self, seen: Mapping[str, tuple[str, str]]) -> None:
        """Of those that a mark is known of; files that are gone are left out."""
        new = {os.path.abspath(path): known for path, known in seen.items() if known[0]}  # noqa: PTH100 - keeps links
        before = self.checksums()
        if any(before.get(path) != known for path, known in new.items()):
            make_folder(self.known_checksums().parent)
            there = {path: known for path, known in before.items() if Path(path).exists()}
            write_json(self.known_checksums(), there | new)

    def new_attempt(self, node: str) -> Path:
        folder = self.root / "attempts" / node / self._new_name(node)
        make_folder(folder)
        self._name_log(node, folder)
        return folder

    def _new_name(self, node: str) -> str:
        """Of all attempts and results of a node the last by name is the newest."""
        return timestamps.name(each.name for each in (*self.attempts(node), *below(self.results_of(node))))

    def drop_empty_attempts(self, node: str) -> None:
        """The folder of its attempts, where none was kept."""
        with suppress(OSError):
            (self.root / "attempts" / node).rmdir()

    def publish_result(self, stage: str, attempt: Path) -> Path:
        """An attempt that holds result.json becomes a result, by rename. Called again where there was no room."""
        target = self.root / "results" / stage / attempt.name
        if attempt.exists():
            timestamps.touch([attempt / "result.json"], self.root.glob(f"summary/*/{STAMP}*"))
            publish(attempt, target)
        self.set_mark(stage, target / "result.json")
        return target

    def publish_build(self, build: str, attempt: Path) -> Path:
        """An attempt that holds build.json becomes the build, by rename."""
        target = self.build(build)
        publish(attempt, target)
        self.set_mark(build, target / "build.json")
        return target

    def publish_import(self, source: Path, target: Path) -> bool:
        """A verified folder that another checkout made; one that is there already stays."""
        if target.exists():
            return False
        publish(source, target)
        return True

    def set_aside(self, node: str, folder: Path) -> Path:
        """A result or build that is none becomes an attempt, by rename; the mark goes first."""
        name = folder.name if folder.parent.name == node else self._new_name(node)
        target = self.root / "attempts" / node / name
        self.drop_mark(node)
        make_folder(target.parent)
        os.rename(folder, target)
        sync(target.parent)
        return target

    def new_live(self, stage: str) -> Path:
        """The folder of a database that is about to be used, absolute."""
        self._say_whose()
        folder = self.live(stage).resolve()
        folder.mkdir(parents=True)
        return folder

    def _say_whose(self) -> None:
        """A link from the data folder to outputs/: one that leads nowhere is left of a checkout that is gone."""
        if self.data != self.root:
            make_folder(self.data)
            with suppress(FileExistsError):
                (self.data / "outputs").symlink_to(self.root.resolve())

    def new_image(self, owner: str) -> Path:
        """Where an image is put together, by the job of a stage: its own image, or that of one it replays."""
        folder = self.data / "images" / f".{owner}.{os.getpid()}" / "new"
        make_folder(folder)
        return folder

    def publish_image(self, stage: str, staged: Path) -> None:
        """The staged folder becomes the image, by rename; one that was there makes room and is removed."""
        target = self.image(stage)
        sync_tree(staged)
        if target.exists():
            os.rename(target, staged.with_name("old"))
        os.rename(staged, target)
        sync(target.parent)
        self.drop_image(staged)

    def discard_image(self, owner: str, stage: str) -> None:
        """By the job of `owner`: out of the way by rename, then removed."""
        staged = self.new_image(owner)
        os.rename(self.image(stage), staged.with_name("old"))
        self.drop_image(staged)

    def drop_image(self, staged: Path) -> None:
        """What is left of putting one together; the next job sweeps what cannot be removed now."""
        with suppress(OSError):
            remove_tree(staged.parent)

    def set_mark(self, node: str, target: Path) -> None:
        _link(self.mark(node), target)
        self._name_log(node, target.parent)
        if named := os.environ.get(NAMED):
            _link(Path(named), target)

    @staticmethod
    def _name_log(node: str, folder: Path) -> None:
        if named := os.environ.get(NAMED_LOG):
            with suppress(OSError):  # it is for people
                _link(Path(named), folder / ("build.log" if node.startswith(BUILD_PREFIX) else "journal.jsonl"))

    def drop_mark(self, node: str) -> None:
        self.mark(node).unlink(missing_ok=True)

    def drop_named_marks(self, plan: str, all_of_them: bool) -> None:
        """Or those of results that were deleted: Snakemake gives up on an output that is a link to nowhere."""
        for mark in self.mark(plan).glob("*s/*"):
            if all_of_them or not mark.exists():
                mark.unlink(missing_ok=True)

    def looked(self, plan: str) -> float:
        """When all results of a plan were last found to be sound; before all time if never, or by another clock."""
        try:
            when = (self.summary(plan) / LOOKED).stat().st_mtime
        except OSError:
            return float("-inf")
        return when if when <= time.time() else float("-inf")

    def note_look(self, plan: str, when: float) -> None:
        """Where there is a summary; a store that cannot be written is looked at in full again."""
        path = self.summary(plan) / LOOKED
        with suppress(OSError):
            path.touch()
            os.utime(path, (when, when))

    def drop_stamps(self, plan: str) -> None:
        """Before the tables are made: what there is is out of date from here on."""
        for old in self.summary(plan).rglob(f"{STAMP}*"):
            old.unlink(missing_ok=True)
        files.sweep_below(self.summary(plan))

    def stamp_tables(self, plan: str, revision: str, results: Iterable[Path] = ()) -> None:
        """`results`: the records that the tables are made of."""
        stamp = self.stamps(plan, revision)[0]
        write_text(stamp, f"{datetime.now(UTC).isoformat()}\n")
        timestamps.touch((*stamp.parent.glob("*.parquet"), stamp), results)

    def stamp_report(self, plan: str, revision: str) -> None:
        tables, stamp = self.stamps(plan, revision)
        write_text(stamp, f"{datetime.now(UTC).isoformat()}\n")
        timestamps.touch((*self.summary(plan).glob("*.*"), stamp), [tables])
