"""Tables, in whatever form they are written: a title, columns, rows of cells, lines above and notes below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct

from stepgrid.model.status import Status

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

SAME, ABSENT = "same as", "absent"
WITHOUT_FIGURE = (*(status for status in Status if status is not Status.DONE), SAME)  # kinds of cells
MOST_ROWS, MOST_COLUMNS = 60, 40  # of a table that nobody asked for
NOTHING = "-"


class Basis(NamedTuple):
    """Numbers that recompute the interval of a ratio: ratio * exp(+-critical * deviation / sqrt(loads))."""

    ratios: tuple[float, ...]  # of the loads
    deviation: float  # standard deviation of a load's logarithm
    freedom: float  # degrees of freedom of the deviation
    critical: float  # standard errors that the interval reaches


class Cell(NamedTuple):
    text: str
    kind: str = ""  # a status without figures, absent, same as; or how good it is: best, worst, failed rate
    value: float | None = None  # behind a text that is rounded for people
    interval: tuple[float, float] | None = None  # of a ratio
    verdict: str = ""  # of a ratio, in a word
    basis: Basis | None = None  # of the interval
    figure: float | None = None  # that a ratio stands beside


class Column(NamedTuple):
    name: str
    label: bool = False  # it names the row
    unit: str = ""
    is_text: bool = False  # words, which begin below each other in plain text

    @property
    def head(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name


class Table(Struct, frozen=True):
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    block: str = ""  # the point that it is of, where a table has several
    before: tuple[str, ...] = ()  # lines above the columns
    notes: tuple[str, ...] = ()  # and below the rows

    @property
    def name(self) -> str:
        return f"{self.title}: {self.block}" if self.block else self.title

    @property
    def is_long(self) -> bool:
        return len(self.rows) > MOST_ROWS or len(self.columns) > MOST_COLUMNS

    def lacking(self, row: tuple[Cell, ...]) -> Cell | None:
        """The cell that says why a row has not one figure; None where it has one."""
        cells = [cell for cell, column in zip(row, self.columns, strict=True) if not column.label]
        if len(cells) < 2 or cells[0].kind not in WITHOUT_FIGURE or any(cell != cells[0] for cell in cells):
            return None
        return cells[0]


def columns(names: Iterable[str], labels: Iterable[str], last: bool = True) -> tuple[Column, ...]:
    """Columns of figures, and of the labels of rows; published tables have the labels last."""
    figures = tuple(Column(name) for name in names)
    row_labels = tuple(Column(name, label=True) for name in labels)
    return (*figures, *row_labels) if last else (*row_labels, *figures)


def word_table(title: str, heads: Iterable[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()) -> Table:
    """Make a table whose columns are all labels."""
    return Table(title, columns((), heads), tuple(tuple(map(Cell, row)) for row in rows), notes=tuple(notes))


def group(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Collect the values of each key, in their order."""
    groups: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def status_cell(status: str) -> Cell:
    """Say why there is no figure."""
    if status == ABSENT:
        return Cell(NOTHING, ABSENT)
    return Cell(status, next((kind for kind in WITHOUT_FIGURE if status.startswith(kind)), "missing"))
