"""What the steps of a figure and of its base began with: the database, its shape, what was cached and left to do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from stepgrid.model import units
from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import starting_server, starting_tree
from stepgrid.summarize.comparisons.starting_server import SIZE
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run

CACHED = 0.10  # from which a difference of what is cached is told, in the whole
_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class StartingState:
    starts: Mapping[str, Mapping[str, str]]  # stage/attempt -> name -> value, of the files
    steps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # stage/attempt/position -> "state" -> JSON

    def marks(self, point: Point, base: Point, again: bool) -> Iterator[str]:
        """`again`: they share their loads, so that they should have begun from one and the same database."""
        yield from self._files(point, base, again)
        arm, against = ([*self._begun(each.runs)] for each in (point, base))
        if again:
            yield from starting_tree.marks(arm, against)
        yield from starting_server.marks(arm, against, again)

    def _files(self, point: Point, base: Point, again: bool) -> Iterator[str]:
        arm, against = ([*self._seen(each.runs)] for each in (point, base))
        if not arm or not against:
            return
        if again:
            yield from _sizes(arm, against)
        yield from _cached(arm, against)

    def _begun(self, runs: Sequence[Run]) -> Iterator[Mapping[str, Any]]:
        for stage, attempt, position in dict.fromkeys((run.place[0], run.attempt, run.place[1]) for run in runs):
            if found := self.steps.get(f"{stage}/{attempt}/{position}"):
                yield json.loads(found["state"])

    def _seen(self, runs: Sequence[Run]) -> Iterator[Mapping[str, float]]:
        for place in dict.fromkeys((run.place[0], run.attempt) for run in runs):
            found = self.starts.get(f"{place[0]}/{place[1]}", _NOTHING)
            if "bytes" in found:
                yield {name: float(found[name]) for name in ("bytes", "files", "resident") if name in found}


def _sizes(arm: Sequence[Mapping[str, float]], against: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """`began from 1.2 GiB in 34 files, the base from 1.5 GiB in 51 files`"""
    one, other = (_median(each, "bytes") for each in (arm, against))
    few, many = (_median(each, "files") for each in (arm, against))
    if _apart(one, other) or _apart(few, many):
        yield f"began from {_database(one, few)}, the base from {_database(other, many)}"


def _apart(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) > SIZE * max(one, other)


def _database(size: float | None, files: float | None) -> str:
    said = units.size(size or 0)
    return said if files is None else f"{said} in {counted(round(files), 'file')}"


def _cached(arm: Sequence[Mapping[str, float]], against: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """`began with 12 % of its database in the page cache, the base with 80 %`"""
    one, other = (_share(each) for each in (arm, against))
    if one is not None and other is not None and abs(one - other) >= CACHED:
        here, there = (units.percent(each) for each in (one, other))
        yield f"began with {here} of its database in the page cache, the base with {there}"


def _share(starts: Sequence[Mapping[str, float]]) -> float | None:
    """Of an empty database nothing can be cached."""
    found = [each["resident"] / each["bytes"] for each in starts if "resident" in each and each["bytes"]]
    return median(found) if found else None


def _median(starts: Sequence[Mapping[str, float]], name: str) -> float | None:
    found = [each[name] for each in starts if name in each]
    return median(found) if found else None
