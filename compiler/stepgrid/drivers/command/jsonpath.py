"""Where a figure stands in JSON: a small part of JSONPath, which names places and computes nothing.

`$`, then any of `.key`, `['any key']`, `[0]`, `[-1]` (from the end) and `[*]` (all entries of a list).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

ALL: Final = "*"
Part: TypeAlias = "tuple[str] | int | str"  # a key stands alone in a tuple; ALL
_PART = re.compile(
    r"""\.(?P<name>[A-Za-z_][\w-]*)|\[(?P<quote>['"])(?P<key>.+?)(?P=quote)\]|\[(?P<index>-?\d+)\]|\[(?P<all>\*)\]"""
)


class PathError(ValueError):
    """What cannot be read of a path."""


def parts(path: str) -> tuple[Part, ...]:
    if not path.startswith("$"):
        raise PathError("it begins with $")
    found, at = list[Part](), 1
    while at < len(path):
        match = _PART.match(path, at)
        if match is None:
            raise PathError(f"`{path[at:]}` is none of .key ['key'] [0] [*]")
        try:
            found.append(_part(match))
        except ValueError:
            raise PathError("an index has too many digits") from None
        at = match.end()
    return tuple(found)


def find(document: Any, path: str) -> list[Any]:
    """What is there, in order; null is not."""
    found = [document]
    for part in parts(path):
        found = list(_inside(found, part))
    return [value for value in found if value is not None]


def _part(match: re.Match[str]) -> Part:
    if match["index"] is not None:
        return int(match["index"])
    return ALL if match["all"] else (match["name"] or match["key"],)


def _inside(values: Iterable[Any], part: Part) -> Iterator[Any]:
    for value in values:
        if isinstance(part, tuple):
            if isinstance(value, dict) and part[0] in value:
                yield value[part[0]]
        elif isinstance(value, list):
            if isinstance(part, str):
                yield from value
            elif -len(value) <= part < len(value):
                yield value[part]
