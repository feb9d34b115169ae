"""What every step says against one base, in one table: a row per step and arm, as published tables have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stepgrid.model.plan import Axis
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import ABSENT, Comparison, Entry
from stepgrid.summarize.comparisons.comparison_axes import Labels


@dataclass(frozen=True, slots=True)
class Row:
    step: str
    labels: Labels
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    base: str
    across: tuple[str, ...]
    down: tuple[str, ...]
    columns: tuple[Labels, ...]
    rows: tuple[Row, ...]
    tables: tuple[Comparison, ...]

    @property
    def heads(self) -> list[str]:
        return [comparison_axes.words(labels, self.across) or "-" for labels in self.columns[1:]]

    @property
    def caveats(self) -> list[str]:
        return list(dict.fromkeys(caveat for table in self.tables for caveat in table.caveats))


def overviews(axes: Sequence[Axis], tables: Iterable[Comparison]) -> list[Overview]:
    """One per base, in the order of the tables."""
    groups: dict[tuple[tuple[str, str], ...], list[Comparison]] = {}
    for table in tables:
        groups.setdefault(tuple(table.layout.base.items()), []).append(table)
    return [_overview(axes, group) for group in groups.values()]


def _overview(axes: Sequence[Axis], tables: Sequence[Comparison]) -> Overview:
    touched = {name for table in tables for name in table.layout.down}
    down = tuple(axis.name for axis in axes if axis.name in touched)
    columns = tuple(dict.fromkeys(column for table in tables for column in table.columns))
    rows = tuple(row for table in tables for row in _rows(table, down, columns))
    return Overview(tables[0].base, tables[0].layout.across, down, columns, rows, tuple(tables))


def _rows(table: Comparison, down: Sequence[str], columns: Sequence[Labels]) -> Iterable[Row]:
    for line in table.lines:
        known = dict(zip(table.layout.down, line.labels, strict=True))
        found = dict(zip(table.columns, line.entries, strict=True))
        entries = tuple(found.get(column, Entry(ABSENT)) for column in columns)
        yield Row(table.step, tuple(known.get(name) for name in down), entries)
