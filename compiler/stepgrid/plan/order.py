"""Order of measurement: how many loads a cell has, and the rank that each stage has in the scheduler."""

from __future__ import annotations

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from stepgrid.model.records import LoadRequest

Order: TypeAlias = Literal["randomized", "interleaved", "as_written"]
ORDERS: tuple[Order, ...] = ("randomized", "interleaved", "as_written")
Key: TypeAlias = tuple[int | str, ...]


class Rankable(Protocol):
    """Parts of a stage that its rank is made of; a PlannedStage has them."""

    @property
    def id(self) -> str: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def load(self) -> int: ...
    @property
    def run(self) -> int: ...


def ranks(stages: Sequence[Rankable], order: Order, seed: int) -> dict[str, int]:
    """Rank each stage, from 0; a parent always ranks before its children.

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
    """Yield the least key whose parent is out already, again and again."""
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


class LoadRecords(NamedTuple):
    """Loads in the store. A cell is identified by the last stage of its first load: by its content, in any spec."""

    requested: Callable[[str], int]  # how many loads of a cell were asked for
    measured: Callable[[str], bool]  # a load, by its last stage
    profiled: Callable[[str], Sequence[str]] = lambda node: ()  # steps of a cell whose difference is to be explained
    imported: Callable[[str], Sequence[tuple[str, int]]] = lambda node: ()  # loads of other hosts: origin, load
    search: Callable[[str], LoadRequest] = lambda key: LoadRequest()  # what it has added


NO_RECORDS = LoadRecords(lambda node: 0, lambda node: False)


class LoadCounts(NamedTuple):
    """Limits of the loads of a cell: a fixed number, or as many as were asked for and measured so far."""

    least: int
    most: int
    records: LoadRecords = NO_RECORDS
    adopts: bool = True  # a load that is measured counts, even beyond `most`

    def of(self, last_stage: Callable[[int], str]) -> int:
        """Count the loads of a cell. `last_stage`: the id of a load's last stage."""
        if self.least == self.most:
            return self.least
        loads = max(self.least, min(self.records.requested(last_stage(0)), self.most))
        while self.adopts and self.records.measured(last_stage(loads)):
            loads += 1
        return loads
