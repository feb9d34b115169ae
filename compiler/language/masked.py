"""A line of somebody's file as it may be shown: a password that stands in it does not leave it."""

from __future__ import annotations

import re

_PASSWORD = re.compile(
    r"""(?P<key>\bpassword["']?\s*:\s+)(?P<value>"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s"'#].*)""", re.IGNORECASE
)
_END = re.compile(r",(?=\s)|\s*\}|\s+#")  # of a value that has no quotes, within braces


def masked(line: str) -> str:
    """As long as before, so that what is underlined stays where it is."""
    return _PASSWORD.sub(_stars, line)


def _stars(match: re.Match[str]) -> str:
    value, line = match["value"], match.string
    end = _END.search(value) if value[0] not in "\"'" and "{" in line[: match.start()] else None
    length = end.start() if end else len(value.rstrip())
    rest = value[length:]
    return f"{match['key']}{'*' * length}{_PASSWORD.sub(_stars, rest)}"
