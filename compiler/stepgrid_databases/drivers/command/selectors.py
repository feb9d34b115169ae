"""Selectors of figures that specs name: regular expressions, and paths in JSON.

Patterns are RE2: their time grows with the text, whoever wrote them, and never with 2^text. Paths are a small part of
JSONPath, which names an entry and computes nothing: `$`, then any of `.key`, `['any key']`, `[0]`, `[-1]` (from the
end) and `[*]` (all entries of a list).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

LARGEST = 2_000  # instructions of a compiled one, of which each looks at each byte in the worst case
SECONDS, SECONDS_PER_BYTE = 10.0, 3e-6  # one match takes linear time, all matches of a text may take quadratic time
_EXPONENT = re.compile(rb"[eE][+-]?[0-9]+(?![\w.])")
_LINES = "(?m)"  # ^ and $ are those of a line
_LACKING = ("invalid perl operator", "invalid escape sequence")
_HINT = "; RE2 has no look-around and no back-references"

ALL: Final = "*"
Part: TypeAlias = "tuple[str] | int | str"  # a key stands alone in a tuple; ALL
_PART = re.compile(
    r"""\.(?P<name>[A-Za-z_][\w-]*)|\[(?P<quote>['"])(?P<key>.+?)(?P=quote)\]|\[(?P<index>-?\d+)\]|\[(?P<all>\*)\]"""
)


class PatternError(ValueError):
    """A pattern that cannot be compiled or searched for, with the reason."""


class PathError(ValueError):
    """A path that cannot be read, with the reason."""


def groups(pattern: str) -> int:
    return int(_compiled(pattern).groups)


def matches(pattern: str, text: str) -> list[str]:
    """Find what the first group holds, wherever it holds anything; with the exponent of a number, if one follows."""
    content = text.encode(errors="replace")
    seconds = SECONDS + SECONDS_PER_BYTE * len(content)
    values, end = list[str](), time.monotonic() + seconds
    for match in _compiled(pattern).finditer(content):
        if match[1] is not None:
            is_cut = match.end() == match.end(1) and match[1][-1:].isdigit()  # `([0-9.]+)` of 7.1e-05
            exponent = _EXPONENT.match(content, match.end()) if is_cut else None
            values.append((match[1] + (exponent[0] if exponent else b"")).decode(errors="replace"))
        if time.monotonic() > end:
            raise PatternError(f"the pattern {pattern} takes more than {seconds:.0f} s")
    return values


_TOKEN = re.compile(
    r"""(?P<any>(?:\\[sSdDwW]|\[[^\]]+\]|\.| )[*+]\??)|\\(?P<escaped>[^\w])|(?P<plain>[^\\()\[\]{}.*+?|^$])"""
)


def texts_before_number(pattern: str) -> tuple[str, ...]:
    """Split what stands before the group of a simple pattern at what may vary; empty where it is not simple."""
    is_first, texts = pattern.startswith("^"), [""]
    position = int(is_first)
    while not pattern.startswith("(", position):
        match = _TOKEN.match(pattern, position)
        if match is None:
            return ()
        if match["any"] is None:
            texts[-1] += match["escaped"] or match["plain"]
        elif texts[-1]:
            texts.append("")
        position = match.end()
    texts = texts if texts[-1] or is_first else texts[:-1]  # blanks before a number are skipped in any case
    return tuple(texts if is_first else ["", *texts] if texts else ())


def parts(path: str) -> tuple[Part, ...]:
    if not path.startswith("$"):
        raise PathError("it begins with $")
    read, position = list[Part](), 1
    while position < len(path):
        match = _PART.match(path, position)
        if match is None:
            raise PathError(f"`{path[position:]}` is none of .key ['key'] [0] [*]")
        if match["index"] is None:
            read.append(ALL if match["all"] else (match["name"] or match["key"],))
        else:
            try:
                read.append(int(match["index"]))
            except ValueError:
                raise PathError("an index has too many digits") from None
        position = match.end()
    return tuple(read)


def find(document: Any, path: str) -> list[Any]:
    """Find the values that a path names, in order, without null."""
    values = [document]
    for part in parts(path):
        values = list(_inside(values, part))
    return [value for value in values if value is not None]


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile((_LINES + pattern).encode(), options)
    except re2.error as error:
        message = error.args[0]
        text = message.decode(errors="replace") if isinstance(message, bytes) else message
        hint = _HINT if text.startswith(_LACKING) else ""
        raise PatternError(f"{text.replace(_LINES, '')[:120]}{hint}") from None
    except UnicodeEncodeError:
        raise PatternError("it holds half a character") from None
    if compiled.programsize > LARGEST:
        raise PatternError(f"it compiles to {compiled.programsize:,} instructions, more than {LARGEST:,}")
    return compiled


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
