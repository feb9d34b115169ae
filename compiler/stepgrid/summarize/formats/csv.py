"""CSV: a table under its name as a comment, figures with all their digits where people get them rounded."""

from __future__ import annotations

import csv
import io

from stepgrid.model.table import Cell, Table


def table(found: Table) -> str:
    return separated(found, ",", "# ")


def separated(found: Table, sign: str, mark: str = "") -> str:
    """`mark`: on the lines that stand above the columns."""
    out = io.StringIO()
    out.writelines(f"{line}\n" for line in (f"# {found.name}", *(f"{mark}{line}" for line in found.before)))
    writer = csv.writer(out, delimiter=sign, lineterminator="\n")
    writer.writerow([f"{column.name} ({column.unit})" if column.unit else column.name for column in found.columns])
    writer.writerows([plain(cell) for cell in row] for row in found.rows)
    return out.getvalue()


def plain(cell: Cell) -> str:
    return cell.text if cell.value is None else f"{cell.value:.10g}"
