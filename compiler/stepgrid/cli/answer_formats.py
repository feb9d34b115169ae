"""Rows as text: aligned for people, or in a format that other programs read. What is missing stays empty, or null."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

NOTHING = "-"
Rows = Sequence[Sequence[Any]]


def table(names: Sequence[str], rows: Rows) -> str:
    cells = [[_shown(value, NOTHING) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    right = [_is_numeric([row[index] for row in rows]) for index in range(len(names))]
    lines = (_aligned(row, widths, right) for row in (names, *cells))
    return "".join(f"{line}\n" for line in lines)


def markdown(names: Sequence[str], rows: Rows) -> str:
    right = [_is_numeric([row[index] for row in rows]) for index in range(len(names))]
    rule = ["---:" if numeric else "---" for numeric in right]
    cells = [[_shown(value, "").replace("|", "\\|").replace("\n", " ") for value in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in (names, rule, *cells))


def separated(separator: str) -> Callable[[Sequence[str], Rows], str]:
    def text(names: Sequence[str], rows: Rows) -> str:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=separator, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_text(value) for value in row] for row in rows)
        return out.getvalue()

    return text


def as_json(names: Sequence[str], rows: Rows) -> str:
    listed = [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
    return json.dumps(listed, indent=1, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[Sequence[str], Rows], str]] = {
    "table": table,
    "csv": separated(","),
    "tsv": separated("\t"),
    "json": as_json,
    "markdown": markdown,
}


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = [
        cell.rjust(width) if numeric else cell.ljust(width)
        for cell, width, numeric in zip(row, widths, right, strict=True)
    ]
    return "  ".join(cells).rstrip()


def _is_numeric(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float | Decimal) for value in known)


def _shown(value: Any, nothing: str) -> str:
    if value is None:
        return nothing
    return f"{value:.10g}" if isinstance(value, float) else str(_text(value))


def _text(value: Any) -> Any:
    """A number as it is, to its last digit."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict | tuple):
        return json.dumps(_plain(value), ensure_ascii=False)
    return value.isoformat(" ") if isinstance(value, datetime) else value


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value - value != 0:
        return None  # no number of JSON
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
