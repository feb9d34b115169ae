"""o.res.dopN: what a step came to, in blocks, each found by its head."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import text_files

PREFIX = "o.res."

_FIRST = re.compile(
    r"(?P<clients>\d+) processes, (?P<rows>\d+) rows-per-process, (?P<seconds>\d+) seconds, (?P<ips>[\d.]+) "
    r"rows-per-second, (?P<each>[\d.]+) rows-per-second-per-user, (?P<queries>\d+) queries, (?P<qps>[\d.]+) "
    r"queries-per-second(?:, (?P<deletes>\S+) deletes)?"
)
_NORMALIZED = re.compile(r"iostat, vmstat normalized by (insert|query) rate")
_RATE = re.compile(r"(?P<of>\d+)th, .* = (?P<insert>\S+) insert, (?:(?P<delete>\S+) delete, )?(?P<query>\S+) query")
_SIZE = re.compile(r"(?P<what>dbGB|dbdirGB)\t(?P<size>[\d.]+)")
_CPU = re.compile(r"client: (?P<user>[\d.]+) user, (?P<system>[\d.]+) system, (?P<total>[\d.]+) total")
_LONGEST = re.compile(r"Max (\w+)")
_DEVICE = re.compile(r"average values from iostat for (\S+)")
_PROCESS = re.compile(r"\S+ +\d+ +[\d.]+ +[\d.]+ +(?P<virtual>\d+) +(?P<resident>\d+) ")

Cells = Mapping[str, str]


class Outcome(NamedTuple):
    path: Path
    first: Cells
    normalized: Mapping[str, Cells]  # by `insert` and `query`: averages of iostat and of vmstat by their heads
    sizes: Cells
    longest: Cells  # Insert, Delete, Query -> seconds
    rates: Mapping[str, Cells]  # percentile -> insert, delete, query: of the first client
    client: Cells
    device: str | None
    processes: Sequence[Cells]  # lines of ps, the one with the largest virtual size first


def parse(content: str, path: Path, faults: Faults) -> Outcome:
    lines = text_files.lines(content)
    first = _FIRST.match(lines[0]) if lines else None
    if not first:
        said = "`N processes, N rows-per-process, N seconds, N rows-per-second …` was expected"
        faults.add(path, 1, said, lines[0] if lines else "")
    client = next((match for line in lines if (match := _CPU.match(line))), None)
    return Outcome(
        path,
        first.groupdict("") if first else {},
        _normalized(lines),
        {match["what"]: match["size"] for line in lines if (match := _SIZE.match(line))},
        _longest(lines),
        _rates(lines),
        client.groupdict() if client else {},
        next((match[1] for line in lines if (match := _DEVICE.match(line))), None),
        [match.groupdict() for line in lines if (match := _PROCESS.match(line))],
    )


def _normalized(lines: Sequence[str]) -> dict[str, dict[str, str]]:
    """Two heads with a line of figures each: what devices did, and what processors did."""
    found: dict[str, dict[str, str]] = {}
    cells: dict[str, str] = {}
    for head, line in zip(lines, [*lines[1:], ""], strict=True):
        if match := _NORMALIZED.fullmatch(head):
            cells = found.setdefault(match[1], {})
        elif head.startswith("nsamp\t"):
            cells |= dict(zip(head.split("\t"), line.split("\t"), strict=False))
    return found


def _longest(lines: Sequence[str]) -> dict[str, str]:
    """The line below `Max insert`."""
    found = ((_LONGEST.fullmatch(head), line) for head, line in pairwise(lines))
    return {match[1].capitalize(): line for match, line in found if match and re.fullmatch(r"[\d.]+", line)}


def _rates(lines: Sequence[str]) -> dict[str, Cells]:
    """One set of lines per client; the first is the first client's."""
    found: dict[str, Cells] = {}
    for line in lines:
        if match := _RATE.match(line):
            found.setdefault(match["of"], match.groupdict("NA"))
    return found
