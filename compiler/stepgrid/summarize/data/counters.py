"""The counters that tables of a report ask for: of a server by its own names, of a probe as `probe.name`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stepgrid.collect.tables import table_views
from stepgrid.collect.tables.part import ENGINE
from stepgrid.summarize.data.parquet_reader import Place

_NAMED = f"CASE source WHEN '{ENGINE}' THEN name ELSE source || '.' || name END"


def counted(folder: Path, tables: Iterable[Mapping[str, Any]]) -> dict[Place, dict[str, float]]:
    """Seldom asked for, and many: no others are read."""
    patterns = sorted({str(pattern) for table in tables for pattern in table.get("counters", ())})
    found: dict[Place, dict[str, float]] = defaultdict(dict)
    if not patterns:
        return found
    wanted = " OR ".join(["called GLOB ?"] * len(patterns))
    query = f"SELECT * FROM (SELECT stage, position, {_NAMED} AS called, grown FROM counters) WHERE {wanted}"
    with table_views.opened(folder) as connection:
        for stage, position, name, grown in connection.execute(query, patterns).fetchall():
            found[stage, position][name] = grown
    return found
