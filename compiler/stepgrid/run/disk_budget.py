"""Disk budget of databases and images: before a stage begins there is room for it, or it does not begin.

A stage needs what is copied of its image, and what such databases grew to before; idle images make room for it.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

from stepgrid.host.disk import existing
from stepgrid.host.failure import StageError
from stepgrid.host.files import scan
from stepgrid.host.locks import LockBusy
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.model.units import duration, size
from stepgrid.plan import actions
from stepgrid.run.attempt import Attempt
from stepgrid.run.images import COPY, Start, can_share, copied_bytes, immutable_files, list_files, unshared_bytes
from stepgrid.store.images import Image, database_sizes, evict_image, image_bytes, list_images, note_database_size
from stepgrid.store.paths import DATA, IMAGE_FILE, Blocks, File, folder_bytes
from stepgrid.store.stage_requests import is_measured
from stepgrid.store.store import Store

SHOWN = 5
RESERVE, SHARE = 1 << 30, 50  # of a device that nobody set a budget for: this much stays free, or a 50th of it


class DiskUsage(Struct, frozen=True):
    free: int  # negative: more is used than there may be
    budget: int | None
    used: int

    @property
    def sentence(self) -> str:
        free = f"{size(max(0, self.free))} free"
        return free if self.budget is None else f"{free} of {size(self.budget)} (`disk` in the site file)"


def room(store: Store, budget: int | None) -> DiskUsage:
    """Measure what this checkout uses; what others use shows in what the device has left."""
    device = os.statvfs(existing(store.data))
    reserve = min(RESERVE, device.f_blocks * device.f_frsize // SHARE)
    free = device.f_bavail * device.f_frsize - reserve
    used = folder_bytes(*store.database_folders())
    return DiskUsage(free if budget is None else min(free, budget - used), budget, used)


def make_room(attempt: Attempt, data: Path) -> None:
    """Make room for what the stage needs, by removing images if need be; a StageError says what takes the room."""
    job, need = attempt.job, space_need(attempt, data.parent)
    usage = room(job.store, job.site.disk)
    if usage.free < need.bytes:
        _evict(attempt, need, usage)
        usage = room(job.store, job.site.disk)
    attempt.note(room={"needed": need.bytes, "known": need.grown is not None, "free": max(0, usage.free)})
    if usage.free < need.bytes and (need.bytes or usage.budget is not None):
        raise StageError(_refusal(job.store, need, usage))


def _evict(attempt: Attempt, need: SpaceNeed, usage: DiskUsage) -> None:
    """Evict nothing where all together would not be enough. An image that a job holds stays, and the next one goes."""
    job = attempt.job
    candidates = list(_candidates(attempt, need.start))
    first = choose(candidates, need.bytes - usage.free)
    if first is None:
        return
    for candidate in [*first, *(other for other in order(candidates) if other not in first)]:
        if room(job.store, job.site.disk).free >= need.bytes:
            return
        image = candidate.image
        with suppress(LockBusy):
            evict_image(job.store, job.stage.id, image.stage)
            last_use = datetime.fromtimestamp(image.used, UTC).isoformat()
            attempt.journal("image evicted", stage=image.stage, bytes=image.bytes, used=last_use)
            reason = f"{job.stage.title} needs {size(need.bytes)}"
            print(f"evicted the image of {_describe(image)}: {reason}", file=sys.stderr, flush=True)


def _candidates(attempt: Attempt, start: str | None) -> Iterator[EvictableImage]:
    store, stages = attempt.job.store, attempt.job.stages
    for image in list_images(store):
        if image.stage == start:
            continue
        children = stages[image.stage].children if image.stage in stages else ()  # else another plan's
        is_needed = any(not is_measured(store, child) for child in children if child != attempt.job.stage.id)
        yield EvictableImage(image, is_needed)


def _refusal(store: Store, need: SpaceNeed, usage: DiskUsage) -> str:
    images = sorted(list_images(store), key=lambda image: -image.bytes)
    taken_bytes = sum(image.bytes for image in images)
    names = [f"{_describe(image)}{', which it starts from' if image.stage == need.start else ''}" for image in images]
    if len(names) > SHOWN:
        names[SHOWN:] = [f"{len(names) - SHOWN} more"]
    listing = f"images take {size(taken_bytes)}: {', '.join(names)}" if images else "no image is there"
    live = usage.used - taken_bytes
    advice = "free some with `stepgrid images STAGE --yes`, or with `stepgrid gc --yes` and `stepgrid gc --empty`"
    parts = [
        f"needs{'' if need.grown is not None else ' at least'} {size(need.bytes)}, {usage.sentence}: {listing}",
        f"databases in use take {size(live)}" if live > 0 else "",
        advice if usage.budget is None else f"{advice}, or raise `disk`",
    ]
    return "; ".join(filter(None, parts))


def _describe(image: Image) -> str:
    return f"{image.title} ({size(image.bytes)}, used {duration(time.time() - image.used)} ago)"


# The room that a stage needs before its database exists: what is copied of an image, and what databases grew to

_SIZE = re.compile(r'"database_bytes":\s*(\d+)')


class SpaceNeed(Struct, frozen=True):
    copied: int  # of the image that it starts from
    grown: int | None  # beyond what it shares with that; None: nothing like it ran here before
    start: str | None  # the stage of that image

    @property
    def bytes(self) -> int:
        """The larger one: what is copied is part of what it grew to."""
        return max(self.copied, self.grown or 0)


def space_need(attempt: Attempt, folder: Path) -> SpaceNeed:
    """Foresee the space of a database that will be in the folder."""
    store, chain = attempt.job.store, [*attempt.job.ancestors(), attempt.job.stage]
    has_image = [(store.image(stage.id) / IMAGE_FILE).is_file() for stage in chain[:-1]]
    first = max((position for position, has in enumerate(has_image, 1) if has), default=0)
    start = chain[first - 1].id if first else None
    sizes = [_grown(store, stage, shape) for stage, shape in list(zip(chain, _shapes(chain), strict=True))[first:]]
    known_sizes = [bytes_ for bytes_ in sizes if bytes_ is not None]
    tree = list_files(store, start) if start else None
    copied = 0
    if start and tree:
        source, patterns = store.image(start) / DATA, immutable_files(attempt)
        copied = copied_bytes(tree, patterns, can_share(source, tree, patterns, folder))
    return SpaceNeed(copied, sum(known_sizes) if known_sizes else None, start)


def _grown(store: Store, stage: PlannedStage, shape: str) -> int | None:
    """Read what such stages took; for a load also its image, which may be of an attempt before this was learnt."""
    sizes = database_sizes(store, shape)
    if sizes or stage.parent:
        return max(sizes, default=None)
    return image_bytes(store, stage.id)


def learn(attempt: Attempt, data: Path, start: Start) -> None:
    """Note the size of the database after the last step, in the attempt and for the next stage that does the same."""
    job, tree = attempt.job, scan(data)
    is_shared = start.image is not None and start.method != COPY
    source = list_files(job.store, start.image) if start.image and is_shared else None
    private = unshared_bytes(tree, source, immutable_files(attempt)) if source else tree.bytes
    samples = [path.read_text(encoding="utf-8") for path in attempt.folder.glob("steps/*/samples.jsonl")]
    peak = max([tree.bytes, *(int(number) for text in samples for number in _SIZE.findall(text))])
    attempt.note(disk={"bytes": tree.bytes, "own": private, "peak": peak})
    if not start.replayed:  # its samples are those of the last stage alone
        shape = _shapes([*job.ancestors(), job.stage])[-1]
        note_database_size(job.store, shape, private + peak - tree.bytes)


def shapes(plan: Plan) -> set[str]:
    """List the shapes of all stages of a plan."""
    stages = {stage.id: stage for stage in plan.stages}
    return {_shapes(_chain(stage, stages))[-1] for stage in plan.stages}


def _chain(stage: PlannedStage, stages: Mapping[str, PlannedStage]) -> list[PlannedStage]:
    before = _chain(stages[stage.parent], stages) if stage.parent else []
    return [*before, stage]


def _shapes(chain: Sequence[PlannedStage]) -> list[str]:
    """Make a digest of each stage with those before it: a database is as large as all of them made it."""
    texts = accumulate(map(actions.shape, chain), lambda before, shape: f"{before}\0{shape}")
    return [hashlib.sha256(text.encode()).hexdigest()[:20] for text in texts]


# Images that go when a stage needs room: those that were not used for longest, and no more than it takes. Pure.


class EvictableImage(Struct, frozen=True):
    image: Image
    needed: bool  # a planned stage of this run starts from it still


def order(candidates: Iterable[EvictableImage]) -> list[EvictableImage]:
    """Sort: first those that this run has no use for; among them the one whose last use is longest ago."""
    return sorted(candidates, key=lambda candidate: (candidate.needed, candidate.image.used, candidate.image.stage))


def choose(candidates: Iterable[EvictableImage], wanted: int) -> list[EvictableImage] | None:
    """Choose what to remove, in order, so that this many bytes are free; None when not even all of them would do."""
    chosen: list[EvictableImage] = []
    remaining = order(candidates)
    while freed_bytes(chosen) < wanted:
        if not remaining:
            return None
        chosen.append(remaining.pop(0))
    for candidate in reversed(chosen[:]):  # spare those that make no difference, the last used first
        fewer = [other for other in chosen if other is not candidate]
        if freed_bytes(fewer) >= wanted:
            chosen = fewer
    return chosen


def freed_bytes(candidates: Collection[EvictableImage]) -> int:
    """Count bytes of files all of whose names go: a file that something else has a link to stays."""
    names: Counter[File] = Counter()
    blocks: dict[File, Blocks] = {}
    for candidate in candidates:
        for file, block in candidate.image.files.items():
            names[file] += block.names
            blocks[file] = block
    return sum(block.bytes for file, block in blocks.items() if names[file] >= block.links)
