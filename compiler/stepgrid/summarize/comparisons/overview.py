"""What every step says against one base, in one table: a row per step and arm, as published tables have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from stepgrid.model import units
from stepgrid.model.plan import Axis
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, Cell, Column, Table
from stepgrid.plugins.layout import MARK
from stepgrid.summarize.comparisons import builds, comparison_axes, phrases
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.comparisons.comparison_axes import Labels
from stepgrid.summarize.comparisons.comparison_cell import BASE, NO_BASE, Entry

FLOOR = "floor"
PAIRED = "ratios: geometric means over the loads, each load to the same load of the base"
NAMED = 3  # places that have the same doubt


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
    is_first: bool = False  # of a report: what is said of all of them stands there

    @property
    def heads(self) -> list[str]:
        return [comparison_axes.words(labels, self.across) or "-" for labels in self.columns[1:]]

    @property
    def compares(self) -> bool:
        return any(map(_compares, self.rows))

    @property
    def table(self) -> Table:
        """The floor is a column where the host has a history of it."""
        floors = any(map(_floor, self.rows))
        labels = [Column(name, label=True) for name in ("step", *self.down)]
        heads = (f"{self.base} QPS", *([FLOOR] if floors else []), *self.heads)
        columns = (*labels, *(Column(head, is_text=True) for head in heads))
        rows = tuple(tuple(_cells(row, self.base, floors)) for row in self.rows)
        return Table(f"QPS relative to {self.base}", columns, rows, notes=tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        if self.is_first and any(each.point and each.point.loads[0] > 1 for row in self.rows for each in row.entries):
            yield PAIRED
        caveats = dict.fromkeys(found.caveat for row in self.rows for found in row.entries if found.caveat)
        yield from (f"{MARK} {builds.NO_VERDICT}: {caveat}" for caveat in caveats)
        shipped = dict.fromkeys(found.as_shipped for row in self.rows for found in row.entries if found.as_shipped)
        yield from (f"{phrases.SHIPPED} {builds.AS_SHIPPED}: {unlike}" for unlike in shipped)
        yield from (f"{phrases.DOUBT} {doubt}" for doubt in self._doubts())

    def _doubts(self) -> Iterator[str]:
        """readww, 1, hyper: kernel 6.1.0 / 6.18.0; one sentence for all that have the same to tell"""
        told: dict[str, list[str]] = {}
        for row in self.rows:
            for head, found in zip(self.heads, row.entries[1:], strict=True):
                for text in found.doubts:
                    told.setdefault(text, []).append(", ".join(filter(None, (row.step, *row.labels, head))))
        for text, where in told.items():
            more = f"; and {len(where) - NAMED} more" if len(where) > NAMED else ""
            yield f"{text}: {'; '.join(where[:NAMED])}{more}"


def _cells(row: Row, base: str, floors: bool) -> Iterator[Cell]:
    yield from map(Cell, (row.step, *(label or "-" for label in row.labels)))
    for index, each in enumerate(row.entries):
        yield phrases.cell(each, base)
        if floors and not index:
            yield Cell(_floor(row) or "-")


def _floor(row: Row) -> str:
    """1.3 %: the highest of the row; nothing where this host has no history of it."""
    known = [found.floor for found in row.entries if found.floor is not None]
    return units.percent(max(known)) if known else ""


def overviews(axes: Sequence[Axis], tables: Iterable[Comparison]) -> list[Overview]:
    """One per base, in the order of the tables."""
    groups: dict[tuple[tuple[str, str], ...], list[Comparison]] = {}
    for table in tables:
        groups.setdefault(tuple(table.layout.base.items()), []).append(table)
    return [_overview(axes, group) for group in groups.values()]


def _compares(row: Row) -> bool:
    """Or would, had it not failed. What has only figures of its own stands among the absolute figures."""
    base, *arms = row.entries
    lacks = base.kind not in (BASE, ABSENT, Status.DONE) and any(entry.kind == NO_BASE for entry in arms)
    return lacks or any(entry.kind not in (ABSENT, NO_BASE, Status.DONE) for entry in arms)


def _compared(columns: Sequence[Labels], rows: Sequence[Row]) -> tuple[tuple[Labels, ...], tuple[Row, ...]]:
    """The rows that compare something, and the columns in which they do."""
    shown = [row for row in rows if _compares(row)] or rows
    kept = [at for at in range(len(columns)) if not at or any(row.entries[at].kind != ABSENT for row in shown)]
    cut = tuple(replace(row, entries=tuple(row.entries[at] for at in kept)) for row in shown)
    return tuple(columns[at] for at in kept), cut


def _overview(axes: Sequence[Axis], tables: Sequence[Comparison]) -> Overview:
    touched = {name for table in tables for name in table.layout.down}
    down = tuple(axis.name for axis in axes if axis.name in touched)
    columns = tuple(dict.fromkeys(column for table in tables for column in table.columns))
    shown, rows = _compared(columns, [row for table in tables for row in _rows(table, down, columns)])
    return Overview(tables[0].base, tables[0].layout.across, down, shown, rows, tuple(tables))


def _rows(table: Comparison, down: Sequence[str], columns: Sequence[Labels]) -> Iterable[Row]:
    for line in table.lines:
        known = dict(zip(table.layout.down, line.labels, strict=True))
        found = dict(zip(table.columns, line.entries, strict=True))
        entries = tuple(found.get(column, Entry(ABSENT)) for column in columns)
        yield Row(table.step, tuple(known.get(name) for name in down), entries)
