"""Changes along an order: from which version or day on a step became faster or slower. A package finds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import re2
from msgspec import Struct, field

from stepgrid.model import units
from stepgrid.model.table import Cell, Column, Table, group
from stepgrid.model.units import ratio_with_interval
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import ComparedMetric

MOST_TEXTS = 8  # sentences
_VERSION = re2.compile(r"(.*?\D)v?(\d+(?:\.\d+)+)")  # labels are a stranger's: in linear time


class LevelChange(NamedTuple):
    at: int  # the first row of the new level
    before: int  # the first row of the level before it
    ratio: float
    low: float
    high: float
    verdict: str


class RungChange(Struct, frozen=True):
    step: str
    labels: comparison_axes.Labels  # of the other axes
    rung: str  # the first of the new level
    previous: tuple[str, str]  # the level before it: its first and its last rung
    change: LevelChange

    def where(self, names: Sequence[str]) -> str:
        return ", ".join(filter(None, (self.step, comparison_axes.words(self.labels, names))))

    @property
    def interval(self) -> str:
        _, _, ratio, low, high, verdict = self.change
        return f"{ratio_with_interval(ratio, low, high)} {verdict}"


class Ladder(Struct, frozen=True):
    axis: str
    rungs: tuple[str, ...]  # in order
    names: tuple[str, ...]  # other axes that vary
    changes: tuple[RungChange, ...]
    metric: ComparedMetric = field(default_factory=ComparedMetric)
    noun: str = "version"
    idle: tuple[str, ...] = ()  # points in no level: a load of them did nothing, or others used the host
    spans: tuple[str, ...] = ()  # of rungs that were compared with each other at every point

    @property
    def sentences(self) -> list[str]:
        """Name the steps that each rung changed."""
        texts = [
            f"from `{rung}` on: {'; '.join(f'{change.where(self.names)} {change.interval}' for change in changes)}"
            for rung, changes in group((change.rung, change) for change in self.changes).items()
        ]
        where = f"in {' and in '.join(self.spans)}" if self.spans else f"where {self.noun}s were compared"
        none = f"no change from one {self.noun} to the next {where}"
        first = units.first(texts, MOST_TEXTS, f" {self.noun}s: `{self.title}`")
        return [*(first or [none]), *(f"not judged: {point}" for point in self.idle[:MOST_TEXTS])]

    @property
    def title(self) -> str:
        return f"changes along {self.axis}"

    @property
    def table(self) -> Table:
        labels = ("from", "before", "step", *self.names)
        figures = Column(f"{self.metric.title}, this level to the one before", is_text=True)
        columns = (*(Column(name, label=True) for name in labels), figures)
        rows = []
        for change in self.changes:
            first, last = change.previous
            previous = first if first == last else f"{first} to {last}"
            other_labels = (label or "-" for label in change.labels)
            rows.append(tuple(map(Cell, (change.rung, previous, change.step, *other_labels, change.interval))))
        return Table(self.title, columns, tuple(rows))


def versions(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as versions; nothing where they are not all versions of one thing."""
    matches = {label: match for label in labels if (match := _VERSION.fullmatch(label))}
    if len(matches) != len([*labels]) or len({match[1] for match in matches.values()}) != 1:
        return ()
    return tuple(sorted(matches, key=lambda label: [*map(int, matches[label][2].split("."))]))
