"""The answer to a question as a table, or as data for other programs: what is missing is `-`, empty or null."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from itertools import chain
from typing import Any

from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.summarize.formats import json_text, markdown, text
from stepgrid.summarize.formats.csv_format import COMMA, TAB, delimited_text

FORMATS = ("table", "csv", "tsv", "json", "markdown")
Rows = Sequence[Sequence[Any]]


def formatted(form: str, names: Sequence[str], rows: Rows) -> str:
    match form:
        case "json":
            return json_text.text([dict(zip(names, row, strict=True)) for row in rows]) + "\n"
        case "csv" | "tsv":
            return delimited_text(chain([names], (map(_text, row) for row in rows)), TAB if form == "tsv" else COMMA)
        case "markdown":
            return markdown.table(_table(names, rows))
    return "".join(f"{line}\n" for line in text.lines(_table(names, rows), indent="", width=sys.maxsize))


def _table(names: Sequence[str], rows: Rows) -> Table:
    """Numbers stand to the right."""
    numeric = [_is_numeric([row[index] for row in rows]) for index in range(len(names))]
    columns = tuple(Column(name, label=not number) for name, number in zip(names, numeric, strict=True))
    return Table("", columns, tuple(tuple(Cell(_shown(value)) for value in row) for row in rows))


def _is_numeric(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float | Decimal) for value in known)


def _shown(value: Any) -> str:
    if value is None:
        return NOTHING
    return f"{value:.10g}" if isinstance(value, float) else str(_text(value))


def _text(value: Any) -> Any:
    """A number as it is, to its last digit."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict | tuple):
        return json_text.text(value, indent=None)
    return value.isoformat(" ") if isinstance(value, datetime) else value
