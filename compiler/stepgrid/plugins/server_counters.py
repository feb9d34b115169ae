"""Counters of a server, by what a spec calls them: one of its own, several by pattern, or a table that holds some."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

from stepgrid.plugins.server import Connection, DelayedCounters, ServerEngine

_TABLE = re.compile(r"\w+(\.\w+)*")
_VIEWS = "information_schema."


class Snapshot(NamedTuple):
    """Counters as they are at one moment."""

    values: Mapping[str, float]
    missing: Sequence[str]  # of the names that were asked for: this server has nothing of that name


def snapshot(engine: ServerEngine, connection: Connection, names: Iterable[str]) -> Snapshot:
    if isinstance(engine, DelayedCounters):
        engine.report_counters(connection)
    counted = partial(_counted, engine, connection, engine.counters(connection))
    found = {name: counted(name) for name in names}
    values = {name: value for each in found.values() if each is not None for name, value in each.items()}
    return Snapshot(values, [name for name, each in found.items() if each is None])


def _counted(
    engine: ServerEngine, connection: Connection, own: Mapping[str, float], named: str
) -> Mapping[str, float] | None:
    if chosen := _matching(own, named):
        return chosen
    if (read := _view(engine, connection, named)) is not None:
        return read
    if not _TABLE.fullmatch(named):
        return {}
    try:
        return in_rows(connection.query(f"select * from {named}"))
    except Exception:  # of each client its own
        return None


def _view(engine: ServerEngine, connection: Connection, named: str) -> Mapping[str, float] | None:
    """As the engine itself reads a view for the table `counters`: the whole of it, or names of that table."""
    if "." not in named:
        return None
    bare = named.lower().removeprefix(_VIEWS)
    whole = bare != named.lower()
    view = bare if whole else named.partition(".")[0]
    reader = next((each for each in engine.looks(connection) if each.name == view), None)
    if reader is None:
        return None
    seen = reader.read().counters
    return {name.removeprefix(f"{view}."): seen[name] for name in seen} if whole else _matching(seen, named) or None


def _matching(values: Mapping[str, float], named: str) -> dict[str, float]:
    return {name: value for name, value in values.items() if name == named or fnmatchcase(name, named)}


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Of those that were there both times. A server says -1 of what it does not count: that is missing."""
    return {name: after[name] - value for name, value in before.items() if name in after and value >= 0}


def in_rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Of several rows of one name: their sum."""
    found: dict[str, float] = {}
    for row in rows:
        for name, value in _of_row(row):
            found[name] = found.get(name, 0.0) + value
    return found


def _of_row(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Its texts say what its numbers count; where there are several numbers, their columns' names do too."""
    numbers = {column: value for column, value in row.items() if isinstance(value, int | float | Decimal)}
    texts = [str(value) for column, value in row.items() if column not in numbers and isinstance(value, str)]
    if not numbers and len(texts) == 2 and _is_number(texts[1]):  # global_status has its values as text
        yield texts[0], float(texts[1])
    for column, value in numbers.items():
        yield ".".join([*texts, *([column] if len(numbers) > 1 or not texts else [])]), float(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
