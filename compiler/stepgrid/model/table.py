"""What a table is, whatever it is written as: a title, columns, rows of cells, and what is to be said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from stepgrid.model.status import Status

SAME, ABSENT = "same as", "absent"
LACKING = (*(status for status in Status if status is not Status.DONE), SAME)
ROWS, COLUMNS = 60, 40  # what nobody has asked for is no longer than that
NOTHING = "-"


class Cell(NamedTuple):
    text: str
    kind: str = ""  # a status without figures, absent, same as; or how good it is: best, worst, failed rate
    value: float | None = None  # behind a text that is rounded for people
    interval: tuple[float, float] | None = None  # of a ratio
    verdict: str = ""  # of a ratio, in a word


class Column(NamedTuple):
    name: str
    label: bool = False  # it says what the row is about
    unit: str = ""
    left: bool = False  # words, which begin below each other in plain text

    @property
    def head(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True, slots=True)
class Table:
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
        return len(self.rows) > ROWS or len(self.columns) > COLUMNS

    def lacking(self, row: tuple[Cell, ...]) -> Cell | None:
        """What a row says that has not one figure."""
        first = next((cell for cell, column in zip(row, self.columns, strict=True) if not column.label), None)
        if first is None or first.kind not in LACKING:
            return None
        cells = [cell for cell, column in zip(row, self.columns, strict=True) if not column.label]
        return first if len(cells) > 1 and all(cell == first for cell in cells) else None


def columns(names: Iterable[str], labels: Iterable[str], last: bool = True) -> tuple[Column, ...]:
    """Of figures and of what names a row; published tables have the name last."""
    figures = tuple(Column(name) for name in names)
    named = tuple(Column(name, label=True) for name in labels)
    return (*figures, *named) if last else (*named, *figures)


def status_cell(status: str) -> Cell:
    """In place of a figure: why there is none."""
    if status == ABSENT:
        return Cell(NOTHING, ABSENT)
    return Cell(status, next((kind for kind in LACKING if status.startswith(kind)), "missing"))
