"""Output of one client: a line of rates for each second or so, histograms of response times, the probe's seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import text_files

PREFIX = "o.ib."
FIRST = "i_sec"
INSERTS, DELETES, QUERIES = "i_ips", "i_dps", "i_qps"
BUCKETS = ("256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt")
MAX = "max"
KINDS = ("Insert", "Delete", "Query")

_TIMES = re.compile(rf"^ *({'|'.join(KINDS)}) rt:(.*)$")
_PROBE = re.compile(r"^get_min_trxid = -?\d+ in (\d+\.\d+) seconds")
_PROBES = re.compile(r"^getmin (\d+) queries, (\d+\.\d+) total secs")

Interval = Mapping[str, str]  # the figures as they stand, by name


class Client(NamedTuple):
    path: Path
    intervals: Sequence[Interval]
    times: Mapping[str, Mapping[str, str]]  # Insert, Delete, Query -> bucket or `max` -> count or seconds
    probe: float | None  # seconds of the first query for the smallest id
    probes: tuple[int, float] | None  # how many there were, and their seconds


def parse(content: str, path: Path, faults: Faults) -> Client:
    lines = text_files.lines(content)
    probe = next((match for line in lines if (match := _PROBE.match(line))), None)
    probes = next((match for line in lines if (match := _PROBES.match(line))), None)
    return Client(
        path,
        _intervals(lines, path, faults),
        _histograms(lines, path, faults),
        float(probe[1]) if probe else None,
        (int(probes[1]), float(probes[2])) if probes else None,
    )


def number(path: Path) -> int:
    """`o.ib.dop4.3` is the third."""
    last = text_files.plain(path.name).rpartition(".")[2]
    return int(last) if last.isdecimal() else 0


def _intervals(lines: Sequence[str], path: Path, faults: Faults) -> list[Interval]:
    """Other lines stand between them; a line that is half one has fewer figures."""
    names: list[str] = []
    found: list[Interval] = []
    for at, line in enumerate(lines, 1):
        words = line.split("\t")
        if words[0] == FIRST:
            names = words
        elif names and len(words) > 1 and _number(words[0]):
            found += _interval(words, names, path, at, line, faults)
    if not names:
        faults.add(path, None, f"no head of its figures by the second ({FIRST}, t_sec, …) is in it")
    return found


def _interval(
    words: Sequence[str], names: Sequence[str], path: Path, at: int, line: str, faults: Faults
) -> list[Interval]:
    if len(words) == len(names) and all(map(_number, words)):
        return [dict(zip(names, words, strict=True))]
    faults.add(path, at, f"{len(names)} figures were expected here, as the head above names them", line)
    return []


def _histograms(lines: Sequence[str], path: Path, faults: Faults) -> dict[str, dict[str, str]]:
    """A line of names, then one of figures, each begun by what it is of."""
    heads: dict[str, list[str]] = {}
    found: dict[str, dict[str, str]] = {}
    for at, line in enumerate(lines, 1):
        if (match := _TIMES.match(line)) is None:
            continue
        kind, words = match[1], match[2].split()
        if words[-1:] == [MAX]:
            heads[kind] = words
        elif len(words) != len(heads.get(kind, ())) or not all(map(_number, words)):
            faults.add(path, at, f"response times were expected here: {', '.join(BUCKETS)} and {MAX}", line)
        else:
            found[kind] = dict(zip(heads[kind], words, strict=True))
    return found


def _number(word: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", word) is not None
