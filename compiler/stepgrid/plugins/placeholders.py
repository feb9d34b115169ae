"""Placeholders of a command's words: which there are, and those of a word that are none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

GIVEN = ("data", "folder", "seed", "options", "program:NAME")
OF_SERVERS = ("host", "socket", "sockets", "port", "user", "database")
OF_SERVICES = ("host", "port", "socket", "sockets")  # of a build's `service`, which is told where to listen
PID = "pid"  # of a collector: the engine's process
LEFT = "`{ … }` with a space inside is left as it is"
_LIKE_ONE = re.compile(r"(?<![$%#@\\])\{([A-Za-z_]\w*)(:[^{}]*)?\}")  # other programs have ${x} and %{x}
_SURE = 0.8  # how near to a known one a name in the braces of a script must be: it may be the script's own


def unknown(word: str, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each placeholder that there is not, with a hint. In a script, which has braces of its own, only near misses."""
    from difflib import get_close_matches

    heads = {name.partition(":")[0]: name for name in known}
    for match in _LIKE_ONE.finditer(word):
        name, rest = match[1], match[2]
        if name in heads and (":" in heads[name]) == bool(rest and len(rest) > 1):
            continue
        near = get_close_matches(name, heads, 1, _SURE if re.search(r"\s", word) else 0.6)
        if near or not re.search(r"\s", word):
            yield match[0], _hint(name, heads[near[0]] if near else None, known)


def _hint(name: str, near: str | None, known: Sequence[str]) -> str:
    listed = f"known here: {' '.join(f'{{{each}}}' for each in known)}; {LEFT}"
    if name in OF_SERVERS and not {*OF_SERVERS} & {*known}:
        return f"only servers have it; {listed}"
    return f"did you mean `{{{near}}}`? {listed}" if near else listed
