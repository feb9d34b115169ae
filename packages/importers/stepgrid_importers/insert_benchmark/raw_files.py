"""Raw files of a step, in the folder TAG/STEP: output of its clients, o.res.dopN, output of iostat and vmstat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from stepgrid.plugins import driver
from stepgrid_importers.shared import iostat, text_files, vmstat
from stepgrid_published.importer import Faults

Cells: TypeAlias = Mapping[str, str]  # figures as they stand, by name
Parsed = TypeVar("Parsed")

IOSTAT, VMSTAT = "o.io.", "o.vm."


class RawRun(NamedTuple):
    folder: Path
    tag: str
    step: str
    outcome: Outcome
    clients: Sequence[Client]
    vmstat: vmstat.Vmstat | None
    device: Sequence[iostat.Sample]
    cores: int | None
    kernel: str | None

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.outcome.path, *(each.path for each in self.clients))


def read(path: Path, faults: Faults) -> RawRun | None:
    """`path`: o.res.dopN."""
    content = text_files.read(path, faults)
    if content is None:
        return None
    found, folder = parse_outcome(content, path, faults), path.parent
    clients = text_files.plain(path.name).rpartition(".")[2]
    processors = _beside(folder, VMSTAT + clients, faults, vmstat.parse)
    devices = _beside(folder, IOSTAT + clients, faults, iostat.parse)
    _device(found, devices, faults)
    return RawRun(
        folder,
        folder.parent.name,
        folder.name,
        found,
        list(_clients(folder, clients, faults)),
        processors,
        devices.devices.get(found.device or "", ()) if devices else (),
        devices.cores if devices else None,
        devices.kernel if devices else None,
    )


def _device(found: Outcome, there: iostat.Iostat | None, faults: Faults) -> None:
    if found.first and there and there.devices and found.device not in there.devices:
        named = found.device or "no device"
        said = f"{named} is named in it: of {', '.join(there.devices)} the database's is not known, and left out"
        faults.add_unknown(found.path, None, said)


def _clients(folder: Path, clients: str, faults: Faults) -> Iterator[Client]:
    paths = (path for path in folder.iterdir() if path.name.startswith(f"{CLIENT}{clients}."))
    for path in sorted(paths, key=client_number):
        if (content := text_files.read(path, faults)) is not None:
            yield parse_client(content, path, faults)


def _beside(folder: Path, name: str, faults: Faults, parse: Callable[[str, Path, Faults], Parsed]) -> Parsed | None:
    path = next((folder / each for each in (name, name + driver.GZ) if (folder / each).is_file()), None)
    content = text_files.read(path, faults) if path else None
    return parse(content, path, faults) if path and content is not None else None


# Output of one client: a line of rates for each second or so, histograms of response times, the probe's seconds.

CLIENT = "o.ib."
FIRST = "i_sec"
INSERTS, DELETES, QUERIES = "i_ips", "i_dps", "i_qps"
BUCKETS = ("256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt")
MAX = "max"
KINDS = ("Insert", "Delete", "Query")

_TIMES = re.compile(rf"^ *({'|'.join(KINDS)}) rt:(.*)$")
_PROBE = re.compile(r"^get_min_trxid = -?\d+ in (\d+\.\d+) seconds")
_PROBES = re.compile(r"^getmin (\d+) queries, (\d+\.\d+) total secs")


class Client(NamedTuple):
    path: Path
    intervals: Sequence[Cells]
    times: Mapping[str, Mapping[str, str]]  # Insert, Delete, Query -> bucket or `max` -> count or seconds
    probe: float | None  # seconds of the first query for the smallest id
    probes: tuple[int, float] | None  # how many there were, and their seconds


def parse_client(content: str, path: Path, faults: Faults) -> Client:
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


def client_number(path: Path) -> int:
    """`o.ib.dop4.3` is the third."""
    last = text_files.plain(path.name).rpartition(".")[2]
    return int(last) if last.isdecimal() else 0


def _intervals(lines: Sequence[str], path: Path, faults: Faults) -> list[Cells]:
    """Other lines stand between them; a line that is half one has fewer figures."""
    names: list[str] = []
    found: list[Cells] = []
    for at, line in enumerate(lines, 1):
        words = line.split("\t")
        if words[0] == FIRST:
            names = words
        elif names and len(words) > 1 and _number(words[0]):
            if len(words) == len(names) and all(map(_number, words)):
                found.append(dict(zip(names, words, strict=True)))
            else:
                faults.add(path, at, f"{len(names)} figures were expected here, as the head above names them", line)
    if not names:
        faults.add(path, None, f"no head of its figures by the second ({FIRST}, t_sec, …) is in it")
    return found


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


# o.res.dopN: what a step came to, in blocks, each found by its head.

OUTCOME = "o.res."

_THROUGHPUT = re.compile(
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


def parse_outcome(content: str, path: Path, faults: Faults) -> Outcome:
    lines = text_files.lines(content)
    first = _THROUGHPUT.match(lines[0]) if lines else None
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
