"""Regular expressions of specs, by RE2: their time grows with the text, whoever wrote them, and never with 2^text."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

LARGEST = 2_000  # instructions of a compiled one, of which each looks at each byte in the worst case
SECONDS, SECONDS_PER_BYTE = 10.0, 3e-6  # one match takes linear time, all matches of a text may take quadratic time
_LINES = "(?m)"  # ^ and $ are those of a line
_LACKING = ("invalid perl operator", "invalid escape sequence")
_HINT = "; RE2 has no look-around and no back-references"


class PatternError(ValueError):
    """Why it is no pattern, or why it cannot be searched for."""


def groups(pattern: str) -> int:
    return int(_compiled(pattern).groups)


def matches(pattern: str, text: str) -> list[str]:
    """What the first group held, wherever it held anything."""
    content = text.encode(errors="replace")
    seconds = SECONDS + SECONDS_PER_BYTE * len(content)
    found, end = list[str](), time.monotonic() + seconds
    for match in _compiled(pattern).finditer(content):
        if match[1] is not None:
            found.append(match[1].decode(errors="replace"))
        if time.monotonic() > end:
            raise PatternError(f"the pattern {pattern} takes more than {seconds:.0f} s")
    return found


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        found = re2.compile((_LINES + pattern).encode(), options)
    except re2.error as error:
        raise PatternError(_why(error.args[0])) from None
    except UnicodeEncodeError:
        raise PatternError("it holds half a character") from None
    if found.programsize > LARGEST:
        raise PatternError(f"it compiles to {found.programsize:,} instructions, more than {LARGEST:,}")
    return found


def _why(said: bytes | str) -> str:
    why = said.decode(errors="replace") if isinstance(said, bytes) else said
    return f"{why.replace(_LINES, '')[:120]}{_HINT if why.startswith(_LACKING) else ''}"
