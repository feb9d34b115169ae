"""Lines of somebody's file as they may be shown: a password that stands in them does not leave it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_PASSWORD = re.compile(
    r"""(?P<key>\bpassword["']?\s*:\s+)(?P<value>"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s"'#].*)""", re.IGNORECASE
)
_END = re.compile(r",(?=\s)|\s*\}|\s+#")  # of a value that has no quotes, within braces
_KEY = re.compile(r"""(?P<before>[\s-]*)["']?password["']?\s*:(?:\s|$)""", re.IGNORECASE)  # with a line of its own


def masked_all(lines: Iterable[str]) -> Iterator[str]:
    """What stands further right below the key is of its value, too: a block, or a text that goes on."""
    above: int | None = None
    for line in lines:
        said = line.lstrip()
        indent = len(line) - len(said)
        if above is not None and (indent > above or not said):
            yield line[:indent] + "*" * len(said)
            continue
        key = _KEY.match(line)
        above = len(key["before"]) if key else None
        yield masked(line)


def masked(line: str) -> str:
    """As long as before, so that what is underlined stays where it is."""
    return _PASSWORD.sub(_stars, line)


def _stars(match: re.Match[str]) -> str:
    value, line = match["value"], match.string
    end = _END.search(value) if value[0] not in "\"'" and "{" in line[: match.start()] else None
    length = end.start() if end else len(value.rstrip())
    rest = value[length:]
    return f"{match['key']}{'*' * length}{_PASSWORD.sub(_stars, rest)}"
