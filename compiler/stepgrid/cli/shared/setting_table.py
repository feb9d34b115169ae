"""A table of settings for the terminal: values as YAML, wrapped to its width, each with its place."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator

from stepgrid.summarize.formats.text import aligned

Row = tuple[str, str, str]  # name, value, place

INDENT, GAP = "    ", 2
NARROWEST = 24  # columns of values that are wrapped
USUAL_WIDTH = 100


def lines(title: str, rows: Iterable[Row]) -> Iterator[str]:
    listed = list(rows)
    names, places = (max(len(row[at]) for row in listed) for at in (0, 2))
    room = shutil.get_terminal_size((USUAL_WIDTH, 24)).columns - len(INDENT) - names - places - 2 * GAP
    yield f"  {title}"
    yield from aligned((line for row in listed for line in _wrapped(row, max(room, NARROWEST))), INDENT)


def _wrapped(row: Row, room: int) -> Iterator[Row]:
    name, text, place = row
    first, *more = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    yield name, first, place
    yield from (("", line, "") for line in more)
