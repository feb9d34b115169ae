"""The database that a stage starts from: empty, its parent's image, or the parent run again."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stepgrid.host.failure import StageError
from stepgrid.host.locks import LockBusy
from stepgrid.model.plan import PlannedStage, runs_already
from stepgrid.plugins.registry import engine
from stepgrid.run import accepted_options
from stepgrid.run.attempt import Attempt
from stepgrid.run.images import image
from stepgrid.run.images.trust import distrusting
from stepgrid.run.steps import Bench
from stepgrid.store import images
from stepgrid.store.images import DamagedError, UnusableError, verify_image
from stepgrid.store.stage_requests import is_measured

EMPTY, REPLAY = "empty", "replay"
THERE = "there"  # of a server that ran before: whatever its database holds


@dataclass(frozen=True, slots=True)
class Start:
    """How the database came to be where it is."""

    method: str
    bytes: int = 0
    copied: int = 0  # of these; the rest shares its blocks with the image
    replayed: tuple[str, ...] = ()
    image: str | None = None  # the stage whose image it is, as it was restored


def prepare(attempt: Attempt, data: Path) -> Start:
    """Makes `data`, and says in attempt.json how."""
    began = time.monotonic()
    start = _make(attempt, data)
    attempt.note(image=_record(attempt.job.stage, start, time.monotonic() - began))
    return start


def immutable(attempt: Attempt) -> tuple[str, ...]:
    return engine(attempt.job.build.engine).immutable


def lacks_results(attempt: Attempt, stage: PlannedStage, but: str | None = None) -> bool:
    """Whether a planned child, other than one, is still to run."""
    return any(not is_measured(attempt.job.store, child) for child in stage.children if child != but)


def ours(attempt: Attempt) -> bool:
    """Whether its database is made and kept here; that of a server that ran before is neither."""
    return not runs_already(attempt.job.build.source)


def _make(attempt: Attempt, data: Path) -> Start:
    chain = attempt.job.ancestors()
    start, position = _nearest(attempt, chain, data)
    for index in range(position, len(chain)):
        follower = chain[index + 1] if index + 1 < len(chain) else attempt.job.stage
        start = _replay(attempt, chain[index], follower.id, data, start)
    return start


def _nearest(attempt: Attempt, chain: list[PlannedStage], data: Path) -> tuple[Start, int]:
    """The nearest ancestor's image, restored, and the position of the first stage that must be replayed."""
    for position in range(len(chain), 0, -1) if ours(attempt) else ():
        start = _restored(attempt, chain[position - 1], data)
        if start:
            return start, position
    data.mkdir()
    return Start(EMPTY if ours(attempt) else THERE), 0


def _restored(attempt: Attempt, stage: PlannedStage, data: Path) -> Start | None:
    store = attempt.job.store
    try:
        with images.hold_image(store, stage.id):
            tree = verify_image(store, stage.id)
            cloned = image.restore(store, stage.id, tree, data, immutable(attempt))
    except UnusableError as why:
        damaged = isinstance(why, DamagedError)
        attempt.journal("image unusable", stage=stage.id, why=str(why), damaged=damaged)
        if damaged:
            _drop(attempt, stage, why)
        return None
    attempt.journal("image restored", stage=stage.id, method=cloned.method, bytes=cloned.bytes, copied=cloned.copied)
    return Start(cloned.method, cloned.bytes, cloned.copied, image=stage.id)


def _drop(attempt: Attempt, stage: PlannedStage, why: UnusableError) -> None:
    """One that cannot be removed now is found damaged again."""
    print(f"{stage.title} is run again: {why}", file=sys.stderr, flush=True)
    with suppress(LockBusy, OSError):
        images.evict_image(attempt.job.store, attempt.job.stage.id, stage.id)


def _replay(attempt: Attempt, stage: PlannedStage, follower: str, data: Path, start: Start) -> Start:
    """Runs an ancestor again; publishes nothing of it but the image, where other children wait for one."""
    attempt.journal("replay", stage=stage.id, title=stage.title)
    bench = Bench(attempt, stage, attempt.folder / "replay" / stage.id, data, replay=True)
    try:
        with distrusting(attempt, start.image, stage):
            bench.run(accepted_options.check(attempt.job, stage))
    except StageError as failure:
        raise replace(failure, message=f"while {stage.title} was run again: {failure.message}") from None
    done = Start(REPLAY, replayed=(*start.replayed, stage.id))
    if not (ours(attempt) and lacks_results(attempt, stage, but=follower)):
        return done
    image.keep(attempt, stage, data, immutable(attempt), replayed=True)
    return replace(_restored(attempt, stage, data) or done, replayed=done.replayed)


def _record(stage: PlannedStage, start: Start, seconds: float) -> Mapping[str, Any]:
    return {
        "parent": stage.parent,
        "method": start.method,
        "seconds": seconds,
        "bytes": start.bytes,
        "copied": start.copied,
        "replayed": bool(start.replayed),
        "stages_replayed": list(start.replayed),
    }
