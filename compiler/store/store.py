"""Every path under outputs/ and the data folder, and the only ways to publish there. Nothing else writes there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compiler.store import halfmade, later
from compiler.store.durable import make_folder, remove_tree, sync, sync_tree, write_json, write_text
from compiler.store.folders import below, own_name, publish

STAMP = "made-by-"
LOOKED = "results-are-sound"
ATTEMPT = later.NAME
RETRACTED = "retracted.json"  # in a result that counts no more


class Store:
    """`data`: where databases are, in use and as images, for every checkout in a folder of its own."""

    def __init__(self, root: Path | str = "outputs", data: Path | str | None = None) -> None:
        self.root = Path(root)
        self.data = self.root if data is None else Path(data) / own_name(self.root)

    # folders
    def plan(self, digest: str) -> Path:
        return self.root / "plans" / digest

    def remembered(self, request: str) -> Path:
        """Which plan a request came to, and what that depends on. Hidden: it is no plan."""
        return self.root / "plans" / ".requests" / f"{request}.json"

    def texts(self, plan: str) -> Path:
        """What a plan that came here with results was compiled from."""
        return self.plan(plan) / "texts"

    def build(self, build: str) -> Path:
        return self.root / "builds" / build

    def build_record(self, build: str) -> Path:
        """The folder of its build.json; of one that was made elsewhere that is all there is. Hidden: it is no build."""
        return self.build(build) if self.has_build(build) else self.records() / build

    def records(self) -> Path:
        """Of builds that were made elsewhere."""
        return self.root / "builds" / ".records"

    def results(self, stage: str) -> list[Path]:
        """Complete results of a stage that nobody took out, oldest first."""
        return [result for result in self.all_results(stage) if not (result / RETRACTED).exists()]

    def all_results(self, stage: str) -> list[Path]:
        """With those that were retracted."""
        return [folder for folder in below(self.results_of(stage)) if (folder / "result.json").is_file()]

    def results_of(self, stage: str) -> Path:
        return self.root / "results" / stage

    def attempts(self, node: str) -> list[Path]:
        """Attempts of a stage or build that are no result: running, failed, interrupted; oldest first."""
        return below(self.attempts_of(node))

    def attempts_of(self, node: str) -> Path:
        return self.root / "attempts" / node

    def image(self, stage: str) -> Path:
        return self.data / "images" / stage

    def live(self, stage: str) -> Path:
        return self.data / "live" / f"{stage}.{os.getpid()}"

    def folders(self, kind: str) -> list[Path]:
        """Where there may be some: images and live databases stay where they were when the site file changes."""
        return list(dict.fromkeys((self.root / kind, self.data / kind)))

    def learnt(self, shape: str) -> Path:
        """How large databases became that were made alike."""
        return self.root / "learnt" / f"{shape}.json"

    def asked(self, stage: str) -> Path:
        """Who wants it measured again, and why."""
        return self.root / "asked" / f"{stage}.json"

    def lock(self, name: str) -> Path:
        return self.root / "locks" / name

    def mark(self, node: str) -> Path:
        return self.root / "marks" / node

    def summary(self, plan: str) -> Path:
        return self.root / "summary" / plan

    def kept(self, plan: str) -> Path:
        """Drawn and worked out before: a cache."""
        return self.summary(plan) / "kept"

    def stamps(self, plan: str, revision: str) -> tuple[Path, Path]:
        """There when a plan's tables, and the report of these tables, were made by this revision of the code."""
        return self.summary(plan) / "tables" / f"{STAMP}{revision}", self.summary(plan) / f"{STAMP}{revision}"

    # what is there
    def result(self, stage: str) -> Path | None:
        """The newest complete result."""
        return next(reversed(self.results(stage)), None)

    def has_build(self, build: str) -> bool:
        return (self.build(build) / "build.json").is_file()

    def has_record_alone(self, build: str) -> bool:
        """It was made elsewhere: its results came here, its programs did not."""
        return not self.has_build(build) and self.build_record(build).is_dir()

    def has_plan(self, digest: str) -> bool:
        """It is published by rename, so that it is whole or not there."""
        return (self.plan(digest) / "plan.json").is_file()

    def leftovers(self) -> Iterator[tuple[str, Path]]:
        """(owner, folder) of every live database and unfinished image: the stage whose job made it."""
        found = [folder for parent in self.folders("live") for folder in below(parent)]
        found += [folder for parent in self.folders("images") for folder in below(parent, hidden=True)]
        for folder in found:
            stage, _, process = folder.name.removeprefix(".").rpartition(".")
            if stage and process.isdecimal():
                yield stage, folder

    def unwritable(self) -> Path | None:
        """A folder that results, marks or reports could not be put into."""
        folders = [self.root, *below(self.root)] if self.root.exists() else []
        if self.data != self.root:
            folders += [self.data, *below(self.data)] if self.data.exists() else [self.data.parent]
        return next((folder for folder in folders if not os.access(folder, os.W_OK | os.X_OK)), None)

    # publishing
    def publish_plan(self, digest: str, write: Callable[[Path], None]) -> None:
        """`write` makes the plan's folder; a plan that is there already is the same plan."""
        target = self.plan(digest)
        if target.is_dir():
            return
        staged = target.with_name(f".{digest}.{os.getpid()}~")
        make_folder(target.parent)
        write(staged)
        sync_tree(staged)
        try:
            os.rename(staged, target)
        except OSError:  # another process published it first
            remove_tree(staged)
        sync(target.parent)

    def remember(self, request: str, kept: Mapping[str, Any]) -> None:
        path = self.remembered(request)
        make_folder(path.parent)
        write_json(path, kept)

    def new_attempt(self, node: str) -> Path:
        folder = self.root / "attempts" / node / self._new_name(node)
        make_folder(folder)
        return folder

    def _new_name(self, node: str) -> str:
        """Of all attempts and results of a node the last by name is the newest."""
        return later.name(each.name for each in (*self.attempts(node), *below(self.results_of(node))))

    def drop_empty_attempts(self, node: str) -> None:
        """The folder of its attempts, where none was kept."""
        with suppress(OSError):
            (self.root / "attempts" / node).rmdir()

    def publish_result(self, stage: str, attempt: Path) -> Path:
        """An attempt that holds result.json becomes a result, by rename."""
        target = self.root / "results" / stage / attempt.name
        later.touch([attempt / "result.json"], self.root.glob(f"summary/*/{STAMP}*"))
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
        mark = self.mark(node)
        make_folder(mark.parent)
        new = mark.with_name(f".{mark.name}.{os.getpid()}")
        new.unlink(missing_ok=True)
        new.symlink_to(os.path.relpath(target, mark.parent))
        os.replace(new, mark)
        sync(mark.parent)

    def drop_mark(self, node: str) -> None:
        self.mark(node).unlink(missing_ok=True)

    def drop_dangling_mark(self, node: str) -> None:
        """Of a result that was deleted: Snakemake gives up on an output that is a link to nowhere."""
        mark = self.mark(node)
        if mark.is_symlink() and not mark.exists():
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
        halfmade.below(self.summary(plan))

    def stamp_tables(self, plan: str, revision: str, results: Iterable[Path] = ()) -> None:
        """`results`: the records that the tables are made of."""
        stamp = self.stamps(plan, revision)[0]
        write_text(stamp, f"{datetime.now(UTC).isoformat()}\n")
        later.touch((*stamp.parent.glob("*.parquet"), stamp), results)

    def stamp_report(self, plan: str, revision: str) -> None:
        tables, stamp = self.stamps(plan, revision)
        write_text(stamp, f"{datetime.now(UTC).isoformat()}\n")
        later.touch((*self.summary(plan).glob("*.*"), stamp), [tables])
