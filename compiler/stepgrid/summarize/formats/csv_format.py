"""CSV and TSV: a table under its name as a comment, figures with their digits where people get them rounded."""

from __future__ import annotations

import io
from collections.abc import Iterable
from csv import writer
from itertools import chain

from stepgrid.model.table import Cell, Table

COMMA, TAB = ",", "\t"


def csv(found: Table) -> str:
    return _table(found, COMMA, "# ")


def tsv(found: Table) -> str:
    """As the published tables are: what stands above the columns is no comment."""
    return _table(found, TAB, "")


def delimited_text(rows: Iterable[Iterable[object]], sign: str = COMMA) -> str:
    """Rows that are no table: of data, as they are."""
    out = io.StringIO()
    writer(out, delimiter=sign, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _table(found: Table, sign: str, mark: str) -> str:
    above = "".join(f"{line}\n" for line in (f"# {found.name}", *(f"{mark}{line}" for line in found.before)))
    heads = [column.head for column in found.columns]
    return above + delimited_text(chain([heads], (map(_plain, row) for row in found.rows)), sign)


def _plain(cell: Cell) -> str:
    return cell.text if cell.value is None else f"{cell.value:.10g}"
