"""Operations per second over time, of a table that a command wrote: columns by name."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepgrid.drivers.command.outputs import Outputs
from stepgrid.model.figures import ParseError, decimal

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def series(outputs: Outputs, said: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Seconds and rate, in the order of time; rows of one time are parts of one rate, such as reads and writes."""
    text = outputs.text(said["file"])
    if text is None:
        raise ParseError(f"series: there is no file {said['file']}")
    unit, factor = UNITS[said.get("unit") or "s"], said.get("times") or 1.0
    found: dict[float, float] = {}
    for at, value in _rows(text.splitlines(), said):
        found[at * unit] = found.get(at * unit, 0.0) + value * factor
    return sorted(found.items())


def _rows(lines: Sequence[str], said: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    rows = csv.reader([said["head"], *lines] if said.get("head") else lines, skipinitialspace=True)
    columns = next(rows, [])
    for name in (said["time"], said["rate"]):
        if name not in columns:
            raise ParseError(f"series: {said['file']} has no column `{name}`; it has: {', '.join(columns) or 'none'}")
    at, value = columns.index(said["time"]), columns.index(said["rate"])
    for row in rows:
        if row:
            line = rows.line_num - bool(said.get("head"))
            yield _number(row, at, said, line), _number(row, value, said, line)


def _number(row: Sequence[str], index: int, said: Mapping[str, Any], line: int) -> float:
    text = row[index] if index < len(row) else ""
    number = decimal(text)
    if not math.isfinite(number):
        raise ParseError(f"series: line {line} of {said['file']} has `{text}`, which is no number")
    return number
