"""Databases and images live within a disk budget: before a stage begins there is room for it, or it does not begin."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from stepgrid.host.failure import StageError
from stepgrid.host.locks import LockBusy
from stepgrid.model.plan import PlannedStage
from stepgrid.model.units import duration, size
from stepgrid.plan import plan_file
from stepgrid.run.attempt import Attempt
from stepgrid.run.images.disk_space import SpaceNeed, need
from stepgrid.run.images.disk_usage import DiskUsage, room
from stepgrid.run.images.eviction import Candidate, chosen, order
from stepgrid.store import images
from stepgrid.store.images import Image
from stepgrid.store.stage_requests import is_measured
from stepgrid.store.store import Store

SHOWN = 5


def make_room(attempt: Attempt, data: Path) -> None:
    """For what the stage needs, by removing images if need be; a StageError says what takes the room."""
    job, wanted = attempt.job, need(attempt, data.parent)
    now = room(job.store, job.site.disk)
    if now.free < wanted.bytes:
        _evict(attempt, wanted, now)
        now = room(job.store, job.site.disk)
    attempt.note(room={"needed": wanted.bytes, "known": wanted.grown is not None, "free": max(0, now.free)})
    if now.free < wanted.bytes and (wanted.bytes or now.budget is not None):
        raise StageError(_refusal(job.store, wanted, now))


def _evict(attempt: Attempt, wanted: SpaceNeed, now: DiskUsage) -> None:
    """Nothing, where all together would not be enough. What a job holds is left, and the next one goes."""
    candidates = list(_candidates(attempt, wanted.start))
    listed = chosen(candidates, wanted.bytes - now.free)
    if listed is None:
        return
    rest = [each for each in order(candidates) if each not in listed]
    for candidate in [*listed, *rest]:
        if room(attempt.job.store, attempt.job.site.disk).free >= wanted.bytes:
            return
        _remove(attempt, candidate.image, wanted)


def _candidates(attempt: Attempt, start: str | None) -> Iterator[Candidate]:
    store, folder = attempt.job.store, attempt.job.store.plan(attempt.job.plan)
    for image in images.list_images(store):
        if image.stage != start:
            yield Candidate(image, _is_needed(store, folder, image.stage, attempt.job.stage))


def _is_needed(store: Store, plan: Path, stage: str, now: PlannedStage) -> bool:
    try:
        children = plan_file.stage(plan, stage).children
    except (KeyError, OSError, ValueError):
        return False  # another plan's
    return any(not is_measured(store, child) for child in children if child != now.id)


def _remove(attempt: Attempt, image: Image, wanted: SpaceNeed) -> None:
    job = attempt.job
    with suppress(LockBusy):
        images.evict_image(job.store, job.stage.id, image.stage)
        attempt.journal("image evicted", stage=image.stage, bytes=image.bytes, used=_when(image.used))
        why = f"{job.stage.title} needs {size(wanted.bytes)}"
        print(f"evicted the image of {_described(image)}: {why}", file=sys.stderr, flush=True)


def _refusal(store: Store, wanted: SpaceNeed, now: DiskUsage) -> str:
    there = images.list_images(store)
    more = "" if wanted.grown is not None else " at least"
    said = f"needs{more} {size(wanted.bytes)}, {now.said}"
    taken = sum(image.bytes for image in there)
    listed = "; ".join([f"images take {size(taken)}: {_listed(there, wanted.start)}"] if there else [])
    live = now.used - taken
    other = f"databases in use take {size(live)}" if live > 0 else ""
    advice = "free some with `stepgrid images --evict STAGE`, or with `stepgrid gc --yes` and `stepgrid gc --empty`"
    raising = advice if now.budget is None else f"{advice}, or raise `disk`"
    return "; ".join(part for part in (f"{said}: {listed or 'no image is there'}", other, raising) if part)


def _listed(there: Sequence[Image], start: str | None) -> str:
    largest = sorted(there, key=lambda image: -image.bytes)
    shown = [f"{_described(image)}{', which it starts from' if image.stage == start else ''}" for image in largest]
    more = [f"{len(shown) - SHOWN} more"] if len(shown) > SHOWN else []
    return ", ".join([*shown[:SHOWN], *more])


def _described(image: Image) -> str:
    ago = duration(time.time() - image.used)
    return f"{image.title} ({size(image.bytes)}, used {ago} ago)"


def _when(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat()
