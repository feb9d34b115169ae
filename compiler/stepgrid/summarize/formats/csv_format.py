"""CSV and TSV: a table under its name as a comment, figures with their digits where people get them rounded."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from csv import writer
from itertools import chain

from stepgrid.model.table import NOTHING, Cell, Table

COMMA, TAB = ",", "\t"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?[x%]?")


def csv(found: Table) -> str:
    return _table(found, COMMA, "# ")


def tsv(found: Table) -> str:
    """As the published tables are: what stands above the columns is no comment."""
    return _table(found, TAB, "")


def delimited_text(rows: Iterable[Iterable[object]], sign: str = COMMA) -> str:
    """Rows that are no table: of data, as they are, but for what a spreadsheet would compute."""
    out = io.StringIO()
    writer(out, delimiter=sign, lineterminator="\n").writerows(map(_inert, row) for row in rows)
    return out.getvalue()


def _inert(value: object) -> object:
    """A text that is a formula to a spreadsheet, `=HYPERLINK(…)`, gets a quote before it; a number stays."""
    if not isinstance(value, str) or not value.startswith(_FORMULA) or value == NOTHING:
        return value
    return value if _NUMBER.fullmatch(value) else f"'{value}"


def _table(found: Table, sign: str, mark: str) -> str:
    above = "".join(f"{line}\n" for line in (f"# {found.name}", *(f"{mark}{line}" for line in found.before)))
    compared = [any(row[at].verdict for row in found.rows) for at in range(len(found.columns))]
    heads = (_heads(column.head, each) for column, each in zip(found.columns, compared, strict=True))
    rows = (_row(row, compared) for row in found.rows)
    return above + delimited_text(chain([[*chain.from_iterable(heads)]], rows), sign)


def _heads(head: str, compared: bool) -> list[str]:
    """A ratio's interval and its verdict have columns of their own: a cell is a number, or why there is none."""
    return [head, f"{head} low", f"{head} high", f"{head} verdict"] if compared else [head]


def _row(row: Iterable[Cell], compared: Iterable[bool]) -> list[str]:
    cells = ([_plain(cell), *(_beside(cell) if each else ())] for cell, each in zip(row, compared, strict=True))
    return [*chain.from_iterable(cells)]


def _beside(cell: Cell) -> tuple[str, str, str]:
    low, high = (f"{bound:.10g}" for bound in cell.interval) if cell.interval else ("", "")
    return low, high, cell.verdict


def _plain(cell: Cell) -> str:
    return cell.text if cell.value is None else f"{cell.value:.10g}"
