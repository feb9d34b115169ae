"""What a running PostgreSQL says of itself: its settings and counters; of one that already runs, what it is, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stepgrid.engines.postgres.options import ASSERTIONS
from stepgrid.plugins.engine import Identity, IdentityError, OptionInfo
from stepgrid.plugins.server import Connection, Effective, ServerDescription, ServerStart

_TYPES = {"bool": "bool", "integer": "number", "real": "number", "enum": "enum"}
_SETTINGS = (
    "SELECT name, setting, current_setting(name) AS shown, unit, vartype, min_val, max_val, enumvals, short_desc "
    "FROM pg_settings"
)
_SINCE = (
    "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS seconds, "
    "pg_backend_pid() AS pid, (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS data"
)
_FACTS = {"block size": "block_size", "WAL block size": "wal_block_size"}
_AMOUNT = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)")
_MEMORY = {"B": 1.0, "kB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}
_TIME = {"us": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "d": 8.64e7}
_UNITS: Mapping[str, float] = {**_MEMORY, **_TIME}
_BOOLEANS = {
    **dict.fromkeys(("on", "true", "yes", "1", "t", "y"), "on"),
    **dict.fromkeys(("off", "false", "no", "0", "f", "n"), "off"),
}


def described(connection: Connection) -> ServerDescription:
    rows = _rows(connection)
    said = str(rows["server_version"]["setting"]) if "server_version" in rows else ""
    if not said:
        raise IdentityError("it does not say which version it is")
    asserting = str(rows["debug_assertions"]["setting"]) == "on" if "debug_assertions" in rows else None
    known = {fact: str(rows[name]["setting"]) for fact, name in _FACTS.items() if name in rows}
    (row,) = connection.query("SELECT version() AS version")
    facts = {"said": str(row["version"]), **known}
    identity = Identity(said.split()[0], (ASSERTIONS,) if asserting else (), asserting, facts)
    return ServerDescription(identity, {name: _option(name, row) for name, row in rows.items()})


def since(connection: Connection) -> ServerStart:
    """Its process is the parent of the one that answers."""
    (row,) = connection.query(_SINCE)
    return ServerStart(float(row["seconds"]), int(row["pid"]), None if row["data"] is None else str(row["data"]))


def compared(connection: Connection, asked: Mapping[str, Any]) -> Effective:
    rows = _rows(connection)
    values = {name: str(row["shown"]) for name, row in rows.items()}
    return Effective(values, dict(_differences(asked, rows)))


def _rows(connection: Connection) -> dict[str, Mapping[str, Any]]:
    return {str(row["name"]): row for row in connection.query(_SETTINGS)}


def _differences(asked: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for name, value in asked.items():
        row, wanted = rows.get(name), (("on" if value else "off") if isinstance(value, bool) else str(value))
        if row is not None and not same(wanted, row):
            yield name, f"it is {row['shown'] or 'empty'} in the running server, and not {wanted} as asked for"


def same(asked: str, row: Mapping[str, Any]) -> bool:
    """As text, as a boolean, or as an amount in whatever unit."""
    if asked.lower() in (str(row["setting"]).lower(), str(row["shown"]).lower()):
        return True
    if row["vartype"] == "bool":
        return _BOOLEANS.get(asked.lower()) == _BOOLEANS.get(str(row["setting"]).lower())
    unit = str(row["unit"] or "")
    one, other = amount(asked, unit), amount(str(row["setting"]), unit)
    return one is not None and one == other


def amount(text: str, unit: str) -> float | None:
    """In bytes or milliseconds, where there are units. `unit`: of a number without one; it may be 8kB."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    number, own = float(match[1]), match[2]
    if own:
        return number * _UNITS[own] if own in _UNITS else None
    base = _AMOUNT.fullmatch(unit)
    times, name = (float(base[1]), base[2]) if base else (1.0, unit)
    return number * times * _UNITS.get(name, 1.0)


def _option(name: str, row: Mapping[str, Any]) -> OptionInfo:
    least, most = (str(row[key] or "") for key in ("min_val", "max_val"))
    kind = _TYPES.get(str(row["vartype"]), "text")
    help_, choices = str(row["short_desc"] or ""), tuple(map(str, row["enumvals"] or ()))
    return OptionInfo(name, kind, str(row["setting"]), help_, least, most, choices)


# Of one that was started for a stage.

# one row each; which of them a version has is asked
VIEWS = ("pg_stat_database", "pg_stat_bgwriter", "pg_stat_checkpointer", "pg_stat_wal", "pg_stat_archiver")
_EFFECTIVE = "SELECT name, current_setting(name) AS value, source, sourcefile FROM pg_settings"
_THERE = "SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relname IN ({})"
_FLUSHES = "SELECT FROM pg_proc WHERE proname = 'pg_stat_force_next_flush'"
_REPORT = "SELECT pg_stat_force_next_flush()"  # from 15 on, where a session else does so once a second
_REPORT_LATER = "SELECT pg_sleep(0.6)"  # before, each half a second, when a statement is over
_OURS = ("configuration file", "override")  # override: what the server works out of a value that says so (-1)


def effective(connection: Connection, asked: Mapping[str, Any]) -> Effective:
    """It refuses a value that it cannot take; but what is in the data directory may come after what was asked."""
    rows = {str(row["name"]): row for row in connection.query(_EFFECTIVE)}
    values = {name: str(row["value"]) for name, row in rows.items()}
    differs = {name: said for name in asked if (said := _overridden(rows.get(name)))}
    return Effective(values, differs)


def _overridden(row: Mapping[str, Any] | None) -> str | None:
    if row is None or (row["source"] in _OURS and not str(row["sourcefile"]).endswith(".auto.conf")):
        return None
    where = row["sourcefile"] if row["source"] == "configuration file" else row["source"]
    return f"it is {row['value']}: {where} comes after what was asked for"


def report_counters(connection: Connection) -> None:
    connection.query(_REPORT if connection.query(_FLUSHES) else _REPORT_LATER)


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
