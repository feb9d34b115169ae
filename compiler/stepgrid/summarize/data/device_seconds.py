"""What the database's device did in each second of a step: many rows, read for the steps alone that are drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stepgrid.collect import query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Place = tuple[str, int]
COLUMNS = ("device_read_mb_per_s", "device_write_mb_per_s", "device_busy_pct")
_ROWS = """
SELECT stage, position, c.second - {opening} AS second, {columns}
FROM samples AS c JOIN steps AS s USING (stage, attempt, position)
WHERE s.same_as IS NULL AND stage || '/' || position IN (SELECT unnest(?)) ORDER BY ALL
"""


class DeviceSecond(NamedTuple):
    second: float  # since the client began to measure, at its end
    read: float  # MiB/s
    written: float
    busy: float  # percent


@dataclass(frozen=True, slots=True)
class DeviceSeconds:
    _folder: Path | None = None

    def of(self, places: Collection[Place]) -> Mapping[Place, list[DeviceSecond]]:
        """Without seconds in which something was not sampled."""
        found: dict[Place, list[DeviceSecond]] = {}
        if self._folder is None or not places:
            return found
        with query.open_tables(self._folder) as connection:
            wanted = [f"{stage}/{position}" for stage, position in places]
            for stage, position, *figures in connection.execute(_query(connection), [wanted]).fetchall():
                if None not in figures and figures[0] > 0:
                    found.setdefault((stage, position), []).append(DeviceSecond(*figures))
        return found


def _query(connection: DuckDBPyConnection) -> str:
    """A step is sampled from its start, a client counts from when its database is open."""
    columns = {name for name, *_ in connection.execute("DESCRIBE steps").fetchall()}
    known = {"step_seconds", "uptime_seconds"} <= columns
    opening = "coalesce(greatest(0, s.step_seconds - s.uptime_seconds), 0)" if known else "0"
    return _ROWS.format(opening=opening, columns=", ".join(f"c.{name}" for name in COLUMNS))
