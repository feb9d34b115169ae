"""In which order stages are measured: the rank that their jobs have in the scheduler."""

from __future__ import annotations

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

Order: TypeAlias = Literal["randomized", "interleaved", "as_written"]
ORDERS: tuple[Order, ...] = ("randomized", "interleaved", "as_written")
Key: TypeAlias = tuple[int | str, ...]


class Rankable(Protocol):
    """What a rank is made of; a PlannedStage is one."""

    @property
    def id(self) -> str: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def load(self) -> int: ...
    @property
    def run(self) -> int: ...


def ranks(stages: Sequence[Rankable], order: Order, seed: int) -> dict[str, int]:
    """Rank of each stage, from 0; a parent always ranks before its children.

    randomized: complete blocks, one per repeat; in a block the loads first, then the rest, each shuffled by the seed.
    interleaved: the same blocks, with the stages of a block as written.
    as_written: in the order of `stages`.
    """
    keys = {stage.id: _key(stage, position, order, seed) for position, stage in enumerate(stages)}
    return {stage: rank for rank, stage in enumerate(_parents_first(stages, keys))}


def _key(stage: Rankable, position: int, order: Order, seed: int) -> Key:
    block: Key = (stage.load, stage.run, int(stage.parent is not None))
    match order:
        case "randomized":
            # by digest, not by a generator: a stage that is added later does not move the others
            return (*block, hashlib.sha256(f"{seed}\0{stage.id}".encode()).hexdigest())
        case "interleaved":
            return (*block, position)
        case "as_written":
            return (position,)
    raise ValueError(f"order: expected one of {', '.join(ORDERS)}, not {order!r}")


def _parents_first(stages: Sequence[Rankable], keys: Mapping[str, Key]) -> Iterator[str]:
    """The least key whose parent is out already, again and again."""
    children = defaultdict(list)
    for stage in stages:
        children[stage.parent if stage.parent in keys else None].append((keys[stage.id], stage.id))
    ready = children[None]
    heapq.heapify(ready)
    while ready:
        _, stage_id = heapq.heappop(ready)
        yield stage_id
        for child in children[stage_id]:
            heapq.heappush(ready, child)
