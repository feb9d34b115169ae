"""A layout of a report's table, and the block that it lays out: spots of a grid with their figures, or a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from stepgrid.model import units
from stepgrid.model.table import ABSENT, NOTHING, Cell, Column, Table, status_cell

At = tuple[int, int]  # row and column
Level = Mapping[str, "float | str | None"]  # a row of the compaction table
Object = Mapping[str, "float | str | None"]  # a row of the table `sizes`

OWN = ("build", "step")
ROOM = 40  # characters that the names of all columns may take
DEFAULT_LAYOUT = "figures"  # the layout of a table that names none

# Rows of CPU by function that are no function, and of waits that are no wait channel
OTHER_ROW, UNRESOLVED_ROW = "other functions", "unresolved"
CLIENT_ROW, SUM_ROW, MEASURED_ROW = "client", "sum", "measured CPU"
OTHER_WAITS_ROW = "other waits"


class FunctionTime(NamedTuple):
    """Microseconds of CPU per operation, the change from the base, and how far its 95 % interval reaches."""

    microseconds: float
    change: float | None = None  # None: of the base itself
    reach: float | None = None  # None: of one load


class LayoutCell(NamedTuple):
    """A cell of the sweep at one step."""

    values: Mapping[str, float] = {}  # by metric
    status: str = ""  # failed, unsupported, missing, elsewhere, same as …; "": it has figures
    ratios: Mapping[str, float] = {}  # to the base, where the table has one
    levels: Sequence[Level] = ()
    objects: Sequence[Object] = ()  # tables and indexes, as the step has left them
    margins: Mapping[str, float] = {}  # of the ratios, where there are repeats
    caveat: str = ""  # why a ratio gets no verdict, or what is compared as shipped
    times: Mapping[str, Sequence[float]] = {}  # operation -> its share in each class of response times, per cent
    functions: Mapping[str, FunctionTime] = {}  # all cells of a block have the same, in one order
    waits: Mapping[str, FunctionTime] = {}  # likewise, by what threads waited for


NOWHERE = LayoutCell(status=ABSENT)  # not in the sweep


class Block(Struct, frozen=True):
    title: str
    rows: tuple[tuple[str, ...], ...]  # labels
    columns: tuple[tuple[str, ...], ...] = ((),)
    spots: Mapping[At, LayoutCell] = {}  # by row and column
    row_axes: tuple[str, ...] = ()
    column_axes: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()  # patterns
    top: int | None = None  # so many of them, the largest
    point: str = ""  # of the axes that make a block each
    base: str | None = None  # what ratios are to
    base_column: int | None = None  # where it is a column
    called: Mapping[str, str] = {}  # of metrics: what the table calls them
    units: Mapping[str, str] = {}  # of metrics, also of those that a spec names
    notes: tuple[str, ...] = ()
    unnamed: str = ""  # what a spot is called that no axis touches: the build
    ratio_of: Callable[[At, At, str], float | None] | None = None  # of one spot to another

    def spot(self, row: int, column: int = 0) -> LayoutCell:
        return self.spots.get((row, column), NOWHERE)

    def row(self, index: int) -> str:
        return join_labels(self.rows[index], self.row_axes)

    def column(self, index: int) -> str:
        return join_labels(self.columns[index], self.column_axes)

    def subjects(self) -> list[tuple[str, LayoutCell]]:
        """List the spots that the sweep has, row by row, for a layout with a line for each."""
        positions = [(row, column) for row in range(len(self.rows)) for column in range(len(self.columns))]
        named_spots = [(self._subject(*at), self.spot(*at)) for at in positions]
        return [(name, spot) for name, spot in named_spots if spot.status != ABSENT]

    def line(self, row: int) -> list[LayoutCell]:
        """List the spots of a row."""
        return [self.spot(row, column) for column in range(len(self.columns))]

    def heads(self, unnamed: str = "") -> list[str]:
        """Name the columns, and one that no axis names."""
        return [self.column(index) or unnamed for index in range(len(self.columns))]

    def ratio(self, at: At, base: At, metric: str) -> float | None:
        """Ask the report, which knows the loads and takes the geometric mean over them."""
        if self.ratio_of is not None:
            return self.ratio_of(at, base, metric)
        value, base_value = (self.spot(*position).values.get(metric) for position in (at, base))
        return None if value is None or base_value is None else units.quotient(value, base_value)

    def table(
        self,
        columns: Iterable[Column],
        rows: Iterable[Iterable[Cell]],
        *parts: str,
        before: Sequence[str] = (),
        notes: Sequence[str] | None = None,
    ) -> Table:
        """Make a table of the block, or of some of its parts."""
        point = ", ".join(part for part in (self.point, *parts) if part)
        lines = tuple(map(tuple, rows))
        return Table(
            self.title, tuple(columns), lines, point, tuple(before), self.notes if notes is None else tuple(notes)
        )

    def _subject(self, row: int, column: int) -> str:
        """Name a spot by its row and column; an axis that makes both is named once."""
        labels, name = self.columns[column], self.column(column)
        if len(self.column_axes) == len(labels):
            pairs = zip(self.column_axes, labels, strict=True)
            only_columns = [(axis, label) for axis, label in pairs if axis not in self.row_axes]
            if len(only_columns) < len(labels):
                name = join_labels([label for _, label in only_columns], [axis for axis, _ in only_columns])
        return " ".join(part for part in (self.row(row), name) if part) or self.unnamed

    def call(self, metric: str) -> str:
        return self.called.get(metric, metric)


def join_labels(labels: Sequence[str], axes: Sequence[str] = ()) -> str:
    """Write rocksdb-7.8.3 cache=lru: among several, a label needs its axis unless it is a build's or a step's."""
    if len(labels) < 2 or len(axes) != len(labels):
        return " ".join(label for label in labels if label)
    pairs = zip(axes, labels, strict=True)
    return " ".join(label if axis in OWN else f"{axis}={label}" for axis, label in pairs if label)


def cell(spot: LayoutCell, text: str | None, value: float | None = None) -> Cell:
    """Make a cell of a figure, or of the reason why a spot has none."""
    if spot.status:
        return status_cell(spot.status)
    return Cell(NOTHING, "missing") if text is None else Cell(text, value=value)


def legend(names: Sequence[str], room: int = ROOM) -> tuple[list[str], tuple[str, ...]]:
    """Make headings of arms, by numbers if the names are too long; then also the lines above, which name them."""
    if sum(len(name) + 2 for name in names) <= room:
        return list(names), ()
    heads = [f"col-{number}" for number in range(1, len(names) + 1)]
    return heads, tuple(f"{head} : {name}" for head, name in zip(heads, names, strict=True))


def fixed(spot: LayoutCell, value: float | None, digits: int) -> Cell:
    return cell(spot, units.fixed(value, digits))


# A layout: the figures that it shows, how a table is arranged by default, what makes it.

STEP = "step"
RANGE = "range"  # of microbenchmarks: a part of their published names
ARMS = "*arms"  # all axes that vary and stand nowhere else
BASE = "*base"  # those of the base


class Layout(Struct, frozen=True):
    title: str
    tables: Callable[[Block], Sequence[Table]]
    rows: tuple[str, ...] = (ARMS,)
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = (STEP,)
    metrics: tuple[str, ...] = ()  # figures that it is about: without any of them there is nothing to show
    earlier: tuple[str, ...] = ()  # figures of other steps of the same cell, beside those of its own step
    levels: bool = False  # likewise, of the levels of an LSM tree
    objects: bool = False  # and of tables and indexes
    times: bool = False  # and of the histograms of latencies
    functions: bool = False  # and of CPU by function
    compares: bool = False  # needs a base
    own_metrics: bool = False  # a table may name others
    sizes: bool = False  # it tells of the database as it was before what is measured, and at the end


MARK = "*"
