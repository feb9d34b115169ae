"""What engines and collectors counted during steps, by names of their own: many rows, read for some steps alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from stepgrid.collect import parquet, query
from stepgrid.collect.step_figures import ENGINE

Place = tuple[str, int]
FUNCTIONS = "perf_record"  # the source of microseconds of CPU by function
_ROWS = """
SELECT stage, position, source, name, grown FROM {} WHERE source IN (?, ?)
AND stage || '/' || position IN (SELECT unnest(?))
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """Source -> name -> by how much it grew, of each step."""

    _folder: Path | None = None

    def of(self, places: Collection[Place]) -> Mapping[Place, Mapping[str, Mapping[str, float]]]:
        found: dict[Place, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        if self._folder is None or not places:
            return found
        wanted = [ENGINE, FUNCTIONS, [f"{stage}/{position}" for stage, position in places]]
        with parquet.connect() as connection:
            rows = connection.execute(_ROWS.format(query.table_source(self._folder, "counters")), wanted)
            for stage, position, source, name, grown in rows.fetchall():
                found[stage, position][source][name] = grown
        return found
