"""o.getmin: seconds of the query for the smallest id at the start of steps, and the table that is made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.plugins.importer import Faults

PREFIX, SORTED = "o.getmin", ".r"
STEPS = ("l.i0", "q100", "q500", "q1000")
_HEAD = "\t".join((*STEPS, "dbms")) + "\t" * 4
_CONFIG = re.compile(r"(?P<build>.+)\.c(?P<config>[^._]*?)(?P<number>\d*)(?:_.*)?")


class Probe(NamedTuple):
    path: Path
    line: int
    tag: str
    seconds: Sequence[str]  # of STEPS


def parse(content: str, path: Path, faults: Faults) -> list[Probe]:
    """Its last line has no end: it may be half a line, and then has too few figures."""
    found = []
    for number, line in enumerate(content.split("\n"), 1):
        if line and (probe := _probe(line, path, number, faults)):
            found.append(probe)
    return found


def _probe(line: str, path: Path, number: int, faults: Faults) -> Probe | None:
    tag, *seconds = line.split("\t")
    try:
        [float(each) for each in seconds]
    except ValueError:
        seconds = []
    if len(seconds) != len(STEPS):
        faults.add(path, number, f"a name and seconds of {', '.join(STEPS)} were expected here", line)
        return None
    return Probe(path, number, tag, seconds)


def table(probes: Sequence[Probe]) -> str:
    """Configurations of a build one below the other, those of the next after a line `-`."""
    lines: list[str] = [_HEAD]
    for build in dict.fromkeys(_build(probe.tag) for probe in probes):
        of_build = [probe for probe in probes if _build(probe.tag) == build]
        lines += [*_between(lines), *("\t".join((*p.seconds, p.tag)) for p in sorted(of_build, key=_rank))]
    return "".join(f"{line}\n" for line in lines)


def _between(lines: Sequence[str]) -> Iterator[str]:
    if len(lines) > 1:
        yield "-"


def _build(tag: str) -> str:
    found = _CONFIG.fullmatch(tag)
    return found["build"] if found else tag


def _rank(probe: Probe) -> tuple[str, int, str]:
    """cx7a, cx7a1, cx7a2 … cx7a10."""
    found = _CONFIG.fullmatch(probe.tag)
    if not found:
        return probe.tag, -1, ""
    return found["config"], int(found["number"] or -1), probe.tag
