"""Which results and builds still hold what they must: a broken one is lost, kept aside, and made again."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path

from stepgrid.host.failure import StageError
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.store.status.failures import write_failure
from stepgrid.store.status.results import BROKEN, Broken, BrokenResult, changed, read
from stepgrid.store.store import Store

SLACK = 1.0  # seconds: the clock of a file system is a little behind ours


class Look:
    """Reads a result in full when it changed since the last look that found all of the plan sound; else two stats."""

    def __init__(self, store: Store, plan: Plan) -> None:
        self.broken: list[Broken] = []
        self._store, self._plan = store, plan.digest
        self._since, self._began = store.looked(plan.digest), time.time()

    def result(self, stage: PlannedStage) -> Path | None:
        """The newest sound one."""
        for result in reversed(self._store.results(stage.id)):
            why = fault(result, stage) if _changed(result) >= self._since else None
            if why is None:
                return result
            self.broken.append(Broken(stage.id, result, why))
        return None

    def has_build(self, build: str) -> bool:
        if not self._store.has_build(build):
            return False
        folder = self._store.build(build)
        why = build_fault(folder)
        if why is not None:
            self.broken.append(Broken(build, folder, why))
        return why is None

    def end(self) -> tuple[Broken, ...]:
        """What is broken. Its marks go: else Snakemake has what it asks for."""
        for broken in self.broken:
            self._store.drop_mark(broken.node)
        if not self.broken:
            self._store.note_look(self._plan, self._began - SLACK)
        return tuple(self.broken)


def fault(result: Path, stage: PlannedStage) -> str | None:
    try:
        read(result, stage)
    except BrokenResult as error:
        return str(error)
    return None


def full_fault(result: Path, stage: PlannedStage) -> str | None:
    """With the checksums of all files."""
    try:
        return changed(read(result, stage))
    except BrokenResult as error:
        return str(error)


def build_fault(folder: Path) -> str | None:
    return unreadable(folder / "build.json")


def unreadable(record: Path) -> str | None:
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"{record.name} cannot be read ({error})"
    return None if isinstance(found, dict) else f"{record.name} holds no record"


def set_aside(store: Store, broken: Broken, then: str = ", and made again") -> str | None:
    """Kept among the attempts, with a note; a sentence for the screen, or nothing when it is gone already."""
    with suppress(FileNotFoundError):
        kept = store.set_aside(broken.node, broken.folder)
        write_failure(kept, broken.node, StageError(f"it was complete, and is broken now: {broken.why}"), BROKEN)
        return f"{broken.folder} is broken: {broken.why}. It is kept in {kept}{then}"
    return None


def _changed(result: Path) -> float:
    """ctime: nothing but a change sets it. Without steps (unsupported, or lost) it is read in any case."""
    try:
        return max(os.stat(f"{result}/{name}").st_ctime for name in ("result.json", "steps"))  # noqa: PTH116 - 10,000
    except OSError:
        return float("inf")
