"""Counters of a server, by what a spec calls them: one of its own, several by pattern, or a table that holds some."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from stepgrid.plugins.server import Connection, ServerEngine

_TABLE = re.compile(r"\w+(\.\w+)*")


def counted(engine: ServerEngine, connection: Connection, named: str) -> dict[str, float]:
    """Name -> value, as it is now. LookupError: this server has nothing of that name."""
    own = engine.counters(connection)
    chosen = {name: value for name, value in own.items() if name == named or fnmatchcase(name, named)}
    if chosen or not _TABLE.fullmatch(named):
        return chosen
    try:
        return in_rows(connection.query(f"select * from {named}"))
    except Exception as error:  # of each client its own
        raise LookupError(f"the server has no counter and no table `{named}`") from error


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Of those that were there both times."""
    return {name: after[name] - value for name, value in before.items() if name in after}


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
