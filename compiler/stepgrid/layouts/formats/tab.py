"""TSV, as the published tables are: what stands above the columns, the columns and the rows."""

from __future__ import annotations

from stepgrid.layouts.formats.comma import separated
from stepgrid.layouts.table import Table


def table(found: Table) -> str:
    return separated(found, "\t")
