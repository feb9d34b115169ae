"""Every path under outputs/, and the only ways to publish there. Nothing else writes below outputs/."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from compiler.store.durable import remove_tree, sync, sync_tree


class Store:
    def __init__(self, root: Path | str = "outputs") -> None:
        self.root = Path(root)

    # folders
    def plan(self, digest: str) -> Path:
        return self.root / "plans" / digest

    def build(self, build: str) -> Path:
        return self.root / "builds" / build

    def results(self, stage: str) -> list[Path]:
        """Complete results of a stage, oldest first."""
        return [folder for folder in _sorted(self.root / "results" / stage) if (folder / "result.json").is_file()]

    def attempts(self, node: str) -> list[Path]:
        """Attempts of a stage or build that are no result: running, failed, interrupted; oldest first."""
        return _sorted(self.root / "attempts" / node)

    def image(self, stage: str) -> Path:
        return self.root / "images" / stage

    def live(self, stage: str) -> Path:
        return self.root / "live" / f"{stage}.{os.getpid()}"

    def lock(self, name: str) -> Path:
        return self.root / "locks" / name

    def mark(self, node: str) -> Path:
        return self.root / "marks" / node

    def summary(self, plan: str) -> Path:
        return self.root / "summary" / plan

    # what is there
    def result(self, stage: str) -> Path | None:
        """The newest complete result."""
        return next(reversed(self.results(stage)), None)

    def has_build(self, build: str) -> bool:
        return (self.build(build) / "build.json").is_file()

    def leftovers(self) -> Iterator[tuple[str, Path]]:
        """(stage, folder) of every live database and unfinished image, whoever owns it."""
        for folder in _sorted(self.root / "live") + _sorted(self.root / "images", hidden=True):
            stage, _, process = folder.name.removeprefix(".").rpartition(".")
            if stage and process.isdecimal():
                yield stage, folder

    # publishing
    def new_attempt(self, node: str) -> Path:
        name = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        folder = self.root / "attempts" / node / name
        folder.mkdir(parents=True)
        return folder

    def publish_result(self, stage: str, attempt: Path) -> Path:
        """An attempt that holds result.json becomes a result, by rename."""
        target = self.root / "results" / stage / attempt.name
        _publish(attempt, target)
        self.set_mark(stage, target / "result.json")
        return target

    def publish_build(self, build: str, attempt: Path) -> Path:
        """An attempt that holds build.json becomes the build, by rename."""
        target = self.build(build)
        _publish(attempt, target)
        self.set_mark(build, target / "build.json")
        return target

    def new_image(self, stage: str) -> Path:
        """Where an image is put together."""
        folder = self.root / "images" / f".{stage}.{os.getpid()}"
        folder.mkdir(parents=True)
        return folder

    def publish_image(self, stage: str, staged: Path) -> None:
        """The staged folder becomes the image, by rename; one that was there makes room and is removed."""
        target, old = self.image(stage), self.root / "images" / f".{stage}-old.{os.getpid()}"
        sync_tree(staged)
        if target.exists():
            os.rename(target, old)
        os.rename(staged, target)
        sync(target.parent)
        remove_tree(old)

    def set_mark(self, node: str, target: Path) -> None:
        mark = self.mark(node)
        mark.parent.mkdir(parents=True, exist_ok=True)
        new = mark.with_name(f".{mark.name}.{os.getpid()}")
        new.unlink(missing_ok=True)
        new.symlink_to(os.path.relpath(target, mark.parent))
        os.replace(new, mark)
        sync(mark.parent)


def _publish(attempt: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    sync_tree(attempt)
    os.rename(attempt, target)
    sync(target.parent)


def _sorted(folder: Path, hidden: bool = False) -> list[Path]:
    try:
        return sorted(e for e in folder.iterdir() if e.is_dir() and e.name.startswith(".") == hidden)
    except FileNotFoundError:
        return []
