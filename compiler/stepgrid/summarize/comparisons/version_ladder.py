"""Which version of a ladder changed what: along an axis of versions of one engine, at each point of the others."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

import numpy as np

from stepgrid.model.plan import ALPHA, Axis
from stepgrid.model.table import Cell, Column, Table
from stepgrid.model.units import ratio_with_interval
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.change_points import Change, changes

FEWEST_VERSIONS = 3  # versions
MOST_TEXTS = 8  # sentences
_VERSION = re.compile(r"(.*?\D)v?(\d+(?:\.\d+)+)")
_Key = TypeVar("_Key")
Pair = Callable[[Point, Point], object]


@dataclass(frozen=True, slots=True)
class VersionChange:
    version: str
    before: tuple[str, str]  # the level before it: its first and its last version
    step: str
    labels: comparison_axes.Labels  # of the other axes
    change: Change

    @property
    def interval(self) -> str:
        _, _, ratio, low, high, verdict = self.change
        return f"{ratio_with_interval(ratio, low, high)} {verdict}"


@dataclass(frozen=True, slots=True)
class Ladder:
    axis: str
    versions: tuple[str, ...]  # in order
    names: tuple[str, ...]  # other axes that vary
    changes: tuple[VersionChange, ...]
    noun: str = "version"  # what it is made of
    idle: tuple[str, ...] = ()  # figures that are in no level, for a load of them did nothing

    @property
    def sentences(self) -> list[str]:
        """By version: the steps that it changed."""
        found = [
            f"from `{version}` on: {'; '.join(map(self._said, group))}"
            for version, group in groupby(self.changes, key=lambda each: each.version)
        ]
        omitted = len(found) - MOST_TEXTS
        more = [f"and at {omitted} more {self.noun}s: `{self.title}`"] if omitted > 0 else []
        changes = [*found[:MOST_TEXTS], *more] or [f"no change from one {self.noun} to the next in {self._range}"]
        return [*changes, *(f"not judged: {each}" for each in self.idle[:MOST_TEXTS])]

    @property
    def title(self) -> str:
        return f"changes along {self.axis}"

    @property
    def table(self) -> Table:
        labels = ("from", "before", "step", *self.names)
        columns = (
            *(Column(name, label=True) for name in labels),
            Column("QPS, this level to the one before", is_text=True),
        )
        return Table(self.title, columns, tuple(tuple(map(Cell, self._row(each))) for each in self.changes))

    @property
    def _range(self) -> str:
        return f"{self.versions[0]} to {self.versions[-1]}"

    def _said(self, each: VersionChange) -> str:
        where = comparison_axes.words(each.labels, self.names)
        return f"{each.step}{f', {where}' if where else ''} {each.interval}"

    def _row(self, each: VersionChange) -> Iterator[str]:
        first, last = each.before
        yield from (each.version, first if first == last else f"{first} to {last}", each.step)
        yield from (label or "-" for label in each.labels)
        yield each.interval


def ladder(axes: Sequence[Axis], points: Sequence[Point], effect: float, apart: Pair, floor: Pair) -> Ladder | None:
    """`apart`: why two points may not be compared; `floor`: how far apart equal arms come out in this experiment."""
    axis = next((each for each in axes if len(versions(each.labels)) >= FEWEST_VERSIONS), None)
    if axis is None:
        return None
    order = versions(axis.labels)
    names = tuple(each.name for each in axes if each is not axis and len(each.labels) > 1)
    found: list[VersionChange] = []
    judged = False
    for step, group in _grouped(points, lambda point: point.step).items():
        rows = _grouped(group, lambda point: comparison_axes.key(point, names))
        for labels, members in rows.items():
            for stretch in _stretches(order, axis.name, members, apart):
                judged |= _compares(axis.name, stretch)
                found += _found(stretch, axis.name, step, labels, (effect, ALPHA / len(rows)), floor)
    found.sort(key=lambda each: order.index(each.version))
    idle = tuple(
        f"`{point.labels.get(axis.name)}`, {point_text(point, names)}: {point.idleness}"
        for point in points
        if point.idle_loads
    )
    return Ladder(axis.name, order, names, tuple(found), idle=idle) if judged else None


def point_text(point: Point, names: Sequence[str]) -> str:
    """readww, cache=lru"""
    return ", ".join(filter(None, (point.step, comparison_axes.words(comparison_axes.key(point, names), names))))


def versions(labels: Iterable[str]) -> tuple[str, ...]:
    """In their order; nothing where they are not all versions of one thing."""
    known = {label: _VERSION.fullmatch(label) for label in labels}
    names = {found[1] if found else None for found in known.values()}
    if len(names) != 1 or None in names:
        return ()
    return tuple(sorted(known, key=lambda label: [*map(int, known[label][2].split("."))]))  # type: ignore[index]


def _compares(axis: str, points: Iterable[Point]) -> bool:
    """Two loads of three versions, at least: else there is nothing to tell, not even that nothing changed."""
    return len({point.labels.get(axis) for point in points if len(point.values()) > 1}) >= FEWEST_VERSIONS


def _grouped(points: Iterable[Point], key: Callable[[Point], _Key]) -> dict[_Key, list[Point]]:
    found: dict[_Key, list[Point]] = {}
    for point in points:
        found.setdefault(key(point), []).append(point)
    return found


def _stretches(order: Sequence[str], axis: str, points: Sequence[Point], apart: Pair) -> Iterator[list[Point]]:
    """Of versions that may be compared with the one before; a version without figures is left out, and one of which a
    load did nothing is compared with none.
    """
    known: Mapping[str | None, Point] = {point.labels.get(axis): point for point in points if point.values()}
    stretch: list[Point] = []
    for point in (known[version] for version in order if version in known):
        if stretch and (point.idle_loads or apart(point, stretch[-1])):
            yield stretch
            stretch = []
        if not point.idle_loads:
            stretch.append(point)
    yield stretch


def _found(
    points: Sequence[Point],
    axis: str,
    step: str,
    labels: comparison_axes.Labels,
    limits: tuple[float, float],
    floor: Pair,
) -> Iterator[VersionChange]:
    if len(points) < FEWEST_VERSIONS:
        return
    names = [str(point.labels[axis]) for point in points]
    for each in changes(_grid(points), *limits):
        noise = floor(points[each.at], points[each.at - 1])
        if not isinstance(noise, float) or abs(math.log(each.ratio)) > math.log1p(noise):
            yield VersionChange(names[each.at], (names[each.before], names[each.at - 1]), step, labels, each)


def _grid(points: Sequence[Point]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    loads = sorted({load for point in points for load in point.values()})
    return np.array([[_log(point.values().get(load, ())) for load in loads] for point in points])


def _log(runs: Sequence[float]) -> float:
    return math.fsum(map(math.log, runs)) / len(runs) if runs else math.nan
