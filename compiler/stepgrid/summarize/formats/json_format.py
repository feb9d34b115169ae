"""JSON: a table as data, with what a page shows by colour as `kind`, and figures with all their digits as `value`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from stepgrid.model.table import Cell, Table


def table(found: Table) -> str:
    """On a line."""
    return json.dumps(_table(found), ensure_ascii=False) + "\n"


def joined(tables: Iterable[str]) -> str:
    """Several, as one list."""
    return f"[{','.join(tables)}]\n"


def _table(found: Table) -> Mapping[str, Any]:
    columns = [{"name": each.name, "unit": each.unit, "label": each.label} for each in found.columns]
    rows = [[_cell(cell) for cell in row] for row in found.rows]
    words = {"before": found.before, "notes": found.notes}
    return {"title": found.title, "block": found.block, "columns": columns, "rows": rows, **words}


def _cell(cell: Cell) -> Mapping[str, Any]:
    """Infinity is no number of JSON: the text says it."""
    finite = cell.value is not None and cell.value - cell.value == 0
    kind, value = {"kind": cell.kind} if cell.kind else {}, {"value": cell.value} if finite else {}
    bounds = [bound if math.isfinite(bound) else None for bound in cell.interval or ()]
    return {"text": cell.text, **kind, **value, **({"interval": bounds} if bounds else {})}
