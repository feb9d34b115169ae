"""The room that a stage needs before its database is there: what is copied of an image, and what databases grew to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from stepgrid.host.files import Tree, scan
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.plan import estimate
from stepgrid.run.attempt import Attempt
from stepgrid.run.images import clone, image
from stepgrid.run.images.starting_database import Start, immutable
from stepgrid.store import images
from stepgrid.store.images import image_bytes
from stepgrid.store.paths import DATA, IMAGE_FILE

_SIZE = re.compile(r'"database_bytes":\s*(\d+)')


@dataclass(frozen=True, slots=True)
class SpaceNeed:
    copied: int  # of the image that it starts from
    grown: int | None  # beyond what it shares with that; None: nothing like it ran here before
    start: str | None  # the stage of that image

    @property
    def bytes(self) -> int:
        """What is copied is among what it grew to."""
        return max(self.copied, self.grown or 0)


def need(attempt: Attempt, folder: Path) -> SpaceNeed:
    """`folder`: where the database will be."""
    chain = [*attempt.job.ancestors(), attempt.job.stage]
    shapes = _shapes(chain)
    first, start = _start(attempt, chain)
    copied = _copied(attempt, start, folder) if start else 0
    grown = [_grown(attempt, stage, shape) for stage, shape in zip(chain[first:], shapes[first:], strict=True)]
    told = [each for each in grown if each is not None]
    return SpaceNeed(copied, sum(told) if told else None, start)


def learn(attempt: Attempt, data: Path, start: Start) -> None:
    """After the last step: into the attempt, and for the next stage that does the same."""
    job, after = attempt.job, scan(data)
    source = _shared_with(attempt, start)
    own = clone.unshared(after, source, immutable(attempt)) if source else after.bytes
    peak = max([after.bytes, *_sampled(attempt.folder)])
    attempt.note(disk={"bytes": after.bytes, "own": own, "peak": peak})
    if not start.replayed:  # its samples are those of the last stage alone
        images.note_database_size(job.store, _shapes([*job.ancestors(), job.stage])[-1], own + peak - after.bytes)


def _start(attempt: Attempt, chain: Sequence[PlannedStage]) -> tuple[int, str | None]:
    """The position of the first stage that runs, and the image that it starts from."""
    store = attempt.job.store
    for position in range(len(chain) - 1, 0, -1):
        if (store.image(chain[position - 1].id) / IMAGE_FILE).is_file():
            return position, chain[position - 1].id
    return 0, None


def _copied(attempt: Attempt, start: str, folder: Path) -> int:
    tree = image.listed(attempt.job.store, start)
    if tree is None:
        return 0
    source, patterns = attempt.job.store.image(start) / DATA, immutable(attempt)
    return clone.copied(tree, patterns, clone.shares(source, tree, patterns, folder))


def _grown(attempt: Attempt, stage: PlannedStage, shape: str) -> int | None:
    """By what such stages took; of a load also by its image, which may be of an attempt before this was learnt."""
    before = images.database_sizes(attempt.job.store, shape)
    if before or stage.parent:
        return max(before, default=None)
    return image_bytes(attempt.job.store, stage.id)


def shapes(plan: Plan) -> set[str]:
    """Of all its stages."""
    known = {stage.id: stage for stage in plan.stages}
    return {_shapes(_chain(stage, known))[-1] for stage in plan.stages}


def _chain(stage: PlannedStage, known: Mapping[str, PlannedStage]) -> list[PlannedStage]:
    before = _chain(known[stage.parent], known) if stage.parent else []
    return [*before, stage]


def _shapes(chain: Sequence[PlannedStage]) -> list[str]:
    """Of each stage with those before it: a database is as large as all of them made it."""
    texts = accumulate(map(estimate.shape, chain), lambda before, own: f"{before}\0{own}")
    return [hashlib.sha256(text.encode()).hexdigest()[:20] for text in texts]


def _shared_with(attempt: Attempt, start: Start) -> Tree | None:
    if start.image is None or start.method == clone.COPY:
        return None
    return image.listed(attempt.job.store, start.image)


def _sampled(attempt: Path) -> list[int]:
    files = attempt.glob("steps/*/samples.jsonl")
    return [int(size) for file in files for size in _SIZE.findall(file.read_text(encoding="utf-8"))]
