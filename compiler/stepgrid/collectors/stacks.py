"""The samples of `perf script`, counted by stack."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

Stack = tuple[str, ...]  # the program, then from the outermost function to the innermost
UNKNOWN = "[unknown]"
_FRAME = re.compile(r"\s+[0-9a-f]+ (?P<symbol>.*?)(?:\+0x[0-9a-f]+)? \((?P<object>.*)\)$")
_HEAD = re.compile(r"(?P<program>\S.*?)\s+\d+/\d+\s+[\d.]+:")


def folded(lines: Iterable[str]) -> Counter[Stack]:
    """An empty line ends a sample; frames stand innermost first."""
    return Counter(_samples(lines))


def text(counts: Mapping[Stack, int]) -> str:
    """A line per stack, as other drawing programs read it."""
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(counts.items()))


def parsed(said: str) -> Counter[Stack]:
    """Of such a text; a line without a count is none."""
    found: Counter[Stack] = Counter()
    for line in said.splitlines():
        stack, _, count = line.rpartition(" ")
        if count.isdecimal():
            found[tuple(stack.split(";"))] += int(count)
    return found


def _samples(lines: Iterable[str]) -> Iterator[Stack]:
    program, frames = "", list[str]()
    for line in lines:
        line = line.rstrip("\n")
        if frame := _FRAME.match(line):
            name = _name(frame["symbol"], frame["object"])
            if name != UNKNOWN or frames[-1:] != [UNKNOWN]:  # a chain that was lost goes on like that for long
                frames.append(name)
        elif head := _HEAD.match(line):
            program = head["program"].replace(";", ":")
        elif not line.strip() and program:
            yield (program, *reversed(frames))
            program, frames = "", []
    if program:
        yield (program, *reversed(frames))


def _name(symbol: str, where: str) -> str:
    """What has no name is known by the file that it is in."""
    name = symbol if symbol != UNKNOWN else f"[{where.rpartition('/')[2].strip('[]')}]"
    return name.replace(";", ":")
