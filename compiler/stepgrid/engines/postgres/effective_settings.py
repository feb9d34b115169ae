"""What a running PostgreSQL says of itself: its settings, and what it has counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stepgrid.plugins.server import Connection, Effective

# one row each; which of them a version has is asked
VIEWS = ("pg_stat_database", "pg_stat_bgwriter", "pg_stat_checkpointer", "pg_stat_wal", "pg_stat_archiver")
_SETTINGS = "SELECT name, current_setting(name) AS value, source, sourcefile FROM pg_settings"
_THERE = "SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relname IN ({})"
_OURS = ("configuration file", "override")  # override: what the server works out of a value that says so (-1)


def effective(connection: Connection, asked: Mapping[str, Any]) -> Effective:
    """It refuses a value that it cannot take; but what is in the data directory may come after what was asked."""
    rows = {str(row["name"]): row for row in connection.query(_SETTINGS)}
    values = {name: str(row["value"]) for name, row in rows.items()}
    differs = {name: said for name in asked if (said := _overridden(rows.get(name)))}
    return Effective(values, differs)


def _overridden(row: Mapping[str, Any] | None) -> str | None:
    if row is None or (row["source"] in _OURS and not str(row["sourcefile"]).endswith(".auto.conf")):
        return None
    where = row["sourcefile"] if row["source"] == "configuration file" else row["source"]
    return f"it is {row['value']}: {where} comes after what was asked for"


def counters(connection: Connection) -> Mapping[str, float]:
    """As `view.column`; of the database that is connected to, where they are kept for each."""
    views = ", ".join(f"'{view}'" for view in VIEWS)
    there = [str(row["relname"]) for row in connection.query(_THERE.format(views))]
    return {name: value for view in sorted(there) for name, value in _counted(connection, view)}


def _counted(connection: Connection, view: str) -> Iterator[tuple[str, float]]:
    where = " WHERE datname = current_database()" if view == "pg_stat_database" else ""
    for row in connection.query(f"SELECT to_jsonb(seen) AS seen FROM {view} AS seen{where}"):
        for name, value in row["seen"].items():
            if isinstance(value, int | float) and not isinstance(value, bool) and not name.endswith("id"):
                yield f"{view}.{name}", float(value)
