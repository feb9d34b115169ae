"""TSV, as the published tables are: what stands above the columns, the columns and the rows."""

from __future__ import annotations

from stepgrid.model.table import Table
from stepgrid.summarize.formats.csv import separated


def table(found: Table) -> str:
    return separated(found, "\t")
