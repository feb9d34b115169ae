"""Which results and builds still hold what they must: a broken one is lost, kept aside, and made again."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from stepgrid.host.failure import StageError
from stepgrid.model.status import BrokenRecord, PlanStatus, Stage
from stepgrid.store.status.failures import write_failure
from stepgrid.store.status.results import BrokenResult, changed, read
from stepgrid.store.store import Store

SLACK = 1.0  # seconds: the clock of a file system is a little behind ours


def fault(result: Path, stage: Stage) -> str | None:
    try:
        read(result, stage)
    except BrokenResult as error:
        return str(error)
    return None


def full_fault(result: Path, stage: Stage) -> str | None:
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
    except (OSError, ValueError, RecursionError) as error:
        return f"{record.name} cannot be read ({error})"
    return None if isinstance(found, dict) else f"{record.name} holds no record"


def note_sound(store: Store, found: PlanStatus) -> None:
    """What changes no more is not read in full again."""
    if not found.broken:
        store.note_look(found.plan.digest, found.now - SLACK)


def set_aside(store: Store, broken: BrokenRecord, then: str = ", and made again") -> str | None:
    """Kept among the attempts, with a note; a sentence for the screen, or nothing when it is gone already."""
    with suppress(FileNotFoundError):
        kept = store.set_aside(broken.node, broken.folder)
        write_failure(kept, broken.node, StageError(f"it was complete, and is broken now: {broken.why}"), "broken")
        return f"{broken.folder} is broken: {broken.why}. It is kept in {kept}{then}"
    return None
