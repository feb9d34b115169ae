"""A table of settings for the terminal: values as YAML, wrapped to its width, each with its place."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from stepgrid.plan.difference.input_text import value
from stepgrid.summarize.formats.text import aligned

Row = tuple[str, str, str]  # name, value, place

INDENT, GAP = "    ", 2
NARROWEST = 24  # columns of values that are wrapped
USUAL_WIDTH = 100
# No colon: in a list the loader takes none without quotes, `[0:0]`
_PLAIN = re.compile(r"(?![-?] |[%@])[\w./+%=@-]+(?: [\w./+%=@-]+)*")
_WORDS = frozenset({"null", "true", "false", ".inf", "+.inf", "-.inf", ".nan"})


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


def _reads_otherwise(word: str) -> bool:
    """As null, a truth value, or a number that is written in another way: `0x10`."""
    if word.lower() in _WORDS:
        return True
    for number in (partial(int, base=0), float):
        with suppress(ValueError):
            return str(number(word)) != word
    return False


def yaml(given: Any, sized: bool = False) -> str:
    """On one line, as a spec would write it; keys without a value are left out."""
    if isinstance(given, list | tuple):
        return f"[{', '.join(yaml(each, sized) for each in given)}]"
    if isinstance(given, Mapping):
        there = {key: said for key, said in given.items() if said is not None}
        return f"{{{', '.join(f'{yaml(key)}: {yaml(said)}' for key, said in there.items())}}}"
    if isinstance(given, str) and (not _PLAIN.fullmatch(given) or _reads_otherwise(given)):
        return json.dumps(given, ensure_ascii=False)
    return value(given, sized)
