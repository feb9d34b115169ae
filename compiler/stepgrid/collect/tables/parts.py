"""The tables that grow result by result: what is read once is never read again, by this plan or a later one.

Results are immutable, so their rows are too. A collect keeps the parts whose results still count, takes over those of
other plans (a link where all of a part counts, else a copy of its columns), and reads what is left. Small parts are
merged, each with one at most twice as large, so that a row is written again but a few times.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.collect.tables import parquet, part_index
from stepgrid.collect.tables.part import Part
from stepgrid.collect.tables.part_index import Entry, PartFile
from stepgrid.host.durable_writes import make_folder
from stepgrid.model.plan import PlannedStage
from stepgrid.model.status import BrokenRecord, NodeStatus, Result, Status
from stepgrid.store.status.results import read
from stepgrid.store.store import Store

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


SMALL, LARGE = 20_000, 600_000  # rows: parts below are always merged, parts above never
PLANS = 8  # others that are looked at, the newest first
Stages = Mapping[str, PlannedStage]
Nodes = Mapping[str, NodeStatus]
WORTH = 4  # results that a copy of a part must have


class Parts:
    """Of one plan. `update` with its nodes, then `files`."""

    def __init__(self, store: Store, plan: str, folder: Path) -> None:
        self._folder = folder
        self.parts = part_index.read(folder)
        self._others = [(other, part) for other in _others(store, plan, folder) for part in part_index.read(other)]

    def files(self, table: str) -> str:
        return parquet.files(part_index.files(self._folder, table, self.parts))

    def update(self, connection: DuckDBPyConnection, stages: Stages, nodes: Nodes) -> list[BrokenRecord]:
        """Gives the damaged results, which the parts lack."""
        wanted = dict(_wanted(stages, nodes))
        if self._has_exactly(wanted):
            return []
        make_folder(self._folder / part_index.HIDDEN)
        part_index.drop(self._folder)
        part_index.sweep(self._folder, self.parts)
        writer = _Writer(connection, self._folder, self.parts)
        writer.keep(wanted)
        writer.take(wanted, self._others)
        broken = writer.read(wanted, stages, nodes)
        writer.settle()
        self.parts = writer.parts
        part_index.write(self._folder, self.parts)
        return broken

    def _has_exactly(self, wanted: Mapping[str, Entry]) -> bool:
        there = {stage: entry for part in self.parts for stage, entry in part.results.items()}
        return bool(self.parts) and there == wanted


class _Writer:
    def __init__(self, connection: DuckDBPyConnection, folder: Path, parts: list[PartFile]) -> None:
        self._connection, self._folder = connection, folder
        self.parts = sorted(parts, key=lambda part: part.number)
        self._covered: set[str] = set()

    def keep(self, wanted: Mapping[str, Entry]) -> None:
        """Own parts, without what counts no more."""
        for part in list(self.parts):
            counts = self._useful(part, wanted)
            if not counts:
                self._drop(part)
            elif len(counts) < len(part.results):
                part.rows = self._copy(self._folder, part, part.number, counts)
                part.results = counts
            self._covered |= set(counts)

    def take(self, wanted: Mapping[str, Entry], others: list[tuple[Path, PartFile]]) -> None:
        """What other plans have."""
        for folder, part in others:
            counts = self._useful(part, wanted)
            if counts and (len(counts) == len(part.results) or len(counts) >= WORTH):
                number, rows = self._next, part.rows
                if len(counts) == len(part.results):
                    self._link(folder, part, number)
                else:
                    rows = self._copy(folder, part, number, counts)
                self._add(PartFile(number, rows, counts))

    def read(self, wanted: Mapping[str, Entry], stages: Stages, nodes: Nodes) -> list[BrokenRecord]:
        """The rest, from the results themselves."""
        part, results, broken = Part(stages), dict[str, Entry](), list[BrokenRecord]()
        left = sorted(set(wanted) - self._covered)
        for some in batches((stages[stage], _whole(nodes[stage], stages[stage])) for stage in left):
            broken += (found := part.add(some))
            lost = {each.node for each in found}
            results |= {stage.id: wanted[stage.id] for stage, _ in some if stage.id not in lost}
            if part.rows >= LARGE:
                self._write(part, results)
                part, results = Part(stages), {}
        if results or not self.parts:
            self._write(part, results)
        return broken

    def settle(self) -> None:
        """Merges small parts, and gives the first one its name."""
        while len(self.parts) > 1 and _mergeable(*self.parts[-2:]):
            self._merge(*self.parts[-2:])
        if self.parts[0].number:
            first, moved = self.parts[0], part_index.paths(self._folder, 0)
            for table, path in part_index.paths(self._folder, first.number).items():
                os.replace(path, moved[table])
            first.number = 0

    @property
    def _next(self) -> int:
        return max((part.number for part in self.parts), default=-1) + 1

    def _useful(self, part: PartFile, wanted: Mapping[str, Entry]) -> dict[str, Entry]:
        return {
            stage: entry
            for stage, entry in part.results.items()
            if wanted.get(stage) == entry and stage not in self._covered
        }

    def _add(self, part: PartFile) -> None:
        self.parts.append(part)
        self._covered |= set(part.results)

    def _write(self, part: Part, results: dict[str, Entry]) -> None:
        number = self._next
        part.write(self._connection, part_index.paths(self._folder, number))
        self._add(PartFile(number, part.rows, results))

    def _link(self, folder: Path, part: PartFile, number: int) -> None:
        targets = part_index.paths(self._folder, number)
        for table, path in part_index.paths(folder, part.number).items():
            targets[table].unlink(missing_ok=True)
            os.link(path, targets[table])

    def _copy(self, folder: Path, part: PartFile, number: int, counts: Mapping[str, Entry]) -> int:
        """The rows of some of its results."""
        targets, stages = part_index.paths(self._folder, number), ", ".join(map(parquet.quoted, counts))
        for table, path in part_index.paths(folder, part.number).items():
            stage = "split_part(subject, '/', 1)" if table == "attempts" else "stage"
            query = f"SELECT * FROM {parquet.files([path])} WHERE {stage} IN ({stages})"
            parquet.write_query(self._connection, targets[table], query)
        return part.rows * len(counts) // len(part.results)

    def _merge(self, into: PartFile, part: PartFile) -> None:
        targets, sources = part_index.paths(self._folder, into.number), part_index.paths(self._folder, part.number)
        for table, path in targets.items():
            query = f"SELECT * FROM {parquet.files([path, sources[table]])}"
            parquet.write_query(self._connection, path, query)
        into.rows += part.rows
        into.results |= part.results
        self._drop(part)

    def _drop(self, part: PartFile) -> None:
        self.parts.remove(part)
        for path in part_index.paths(self._folder, part.number).values():
            path.unlink(missing_ok=True)


def _mergeable(before: PartFile, last: PartFile) -> bool:
    return before.rows + last.rows <= LARGE and before.rows <= max(SMALL, 2 * last.rows)


def _whole(node: NodeStatus, stage: PlannedStage) -> Result:
    """One that did not change since all were found to be whole has not been read."""
    assert node.result is not None
    return node.result if node.result.folders else read(node.result.folder, stage)


def _wanted(stages: Stages, nodes: Nodes) -> Iterator[tuple[str, Entry]]:
    for stage in stages.values():
        result = nodes[stage.id].result
        if result and result.status is Status.DONE and (entry := part_index.entry(stage, result.folder)):
            yield stage.id, entry


def _others(store: Store, plan: str, folder: Path) -> list[Path]:
    """Tables of other plans, the newest first."""
    found = store.summary("_").parent.glob(f"*/{folder.name}/{part_index.FILE}")
    newest = sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
    return [path.parent for path in newest if path.parent != folder and path.parent.parent.name != plan][:PLANS]


# Results that are read together: as many as make it cheaper, and no more than memory holds, however long they ran.

MOST = 16  # results: more of them take as much CPU each
SECONDS = 5_000.0  # of steps, as each has a sample; a result that is longer is read alone
Read = tuple[PlannedStage, Result]


def batches(results: Iterable[Read]) -> Iterator[list[Read]]:
    some, seconds = list[Read](), 0.0
    for result in results:
        own = _seconds(result)
        if some and (len(some) == MOST or seconds + own > SECONDS):
            yield some
            some, seconds = [], 0.0
        some.append(result)
        seconds += own
    if some:
        yield some


def _seconds(result: Read) -> float:
    said = (step.get("seconds") for step in result[1].steps)
    return sum(seconds for seconds in said if isinstance(seconds, int | float))
