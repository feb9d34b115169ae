"""Published tables of the insert benchmark: metrics of each step, merges of them, response times, probes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid_importers.insert_benchmark.raw_files import MAX, Cells
from stepgrid_importers.shared import awk, text_files
from stepgrid_importers.shared.awk import number
from stepgrid_published.importer import Faults

# A table by the names in its head: o.sum.t.TAG, mrg.STEP and rel.STEP.

BREAK = "-"  # a line between groups; the row after it is the base of the next group
TAG, FIRST = "tag", "ips"
COLUMNS = (
    "ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups", "cspq", "cpupq",
    "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99", "tag",
)  # fmt: skip
NONE = "NA"


class Row(NamedTuple):
    path: Path
    line: int
    cells: Cells

    @property
    def tag(self) -> str:
        return self.cells[TAG]


class Table(NamedTuple):
    path: Path
    head: Sequence[str]
    rows: Sequence[Row | None]  # None: a break

    @property
    def known(self) -> list[Row]:
        return [row for row in self.rows if row]


def parse_table(content: str, path: Path, faults: Faults) -> Table:
    lines = text_files.all_lines(content)
    head = lines[0].split("\t") if lines else []
    if head[:1] != [FIRST] or head[-1:] != [TAG]:
        faults.add(path, 1, f"a head of columns was expected ({FIRST}, qps, … {TAG})", lines[0] if lines else "")
        return Table(path, (), ())
    return Table(path, head, list(_rows(lines, head, path, faults)))


def _rows(lines: Sequence[str], head: Sequence[str], path: Path, faults: Faults) -> Iterator[Row | None]:
    for at, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if line == BREAK:
            yield None
        elif len(cells) == len(head):
            yield _row(dict(zip(head, cells, strict=True)), path, at, line, faults)
        elif line:
            said = f"{len(cells)} cells where {len(head)} were expected, as its head names them"
            faults.add(path, at, said, line)


def _row(cells: Cells, path: Path, at: int, line: str, faults: Faults) -> Row:
    for name, cell in cells.items():
        if name != TAG and cell not in ("", NONE) and not awk.is_number(cell):
            faults.add(path, at, f"`{cell}` in {name} is no figure", line)
    return Row(path, at, cells)


def written(head: Sequence[str], rows: Iterable[Cells | None]) -> str:
    lines = (BREAK if row is None else "\t".join(row[name] for name in head) for row in rows)
    return "".join(f"{line}\n" for line in ("\t".join(head), *lines))


# mrg.STEP: a step's row of every configuration; and rel.STEP: what each is of the first.

_WHOLE = 3  # the first columns, of which no fraction is kept
_SIZE, _WIDE = "dbgb2", 10.0  # from which on it has one decimal
_ROWS = re.compile(r"(?<!\d)\d+m\.")


def short(tag: str) -> str:
    """Without how many million rows there were: `20m.rx80.cx6a`."""
    return _ROWS.sub("", tag)


def merged(cells: Cells) -> dict[str, str]:
    found = {name: f"{number(cell):.0f}" if at < _WHOLE else cell for at, (name, cell) in enumerate(cells.items())}
    if number(cells.get(_SIZE, "")) >= _WIDE:
        found[_SIZE] = f"{number(cells[_SIZE]):.1f}"
    return {**found, TAG: short(cells[TAG])}


def relative(rows: Sequence[Cells | None]) -> Iterator[Cells | None]:
    """None is a break: a new group, with a base of its own."""
    base: Cells | None = None
    for row in rows:
        if row is None:
            yield None
        elif base is not None:
            yield {name: cell if name == TAG else ratio(cell, base[name]) for name, cell in row.items()}
        base = None if row is None else base or row


def ratio(cell: str, base: str) -> str:
    return NONE if NONE in (cell, base) else awk.ratio(number(cell), number(base))


# o.rt.t.KIND: response times of all clients by bucket, their sum, and that as per cent.


def any_times(clients: Sequence[Cells]) -> bool:
    """Per cent of none at all are nothing to write."""
    return any(int(count) for each in clients for name, count in each.items() if name != MAX)


def times_table(clients: Sequence[Cells]) -> str:
    names = [name for name in clients[0] if name != MAX]
    counts = [[int(each[name]) for name in names] for each in clients]
    sums = [sum(column) for column in zip(*counts, strict=True)]
    longest = f"{max(number(each[MAX]) for each in clients):.3f}"
    pairs = enumerate(zip(counts, clients, strict=True), 1)
    each = [[*map(str, found), f"{number(times[MAX]):.3f}", f"t{at}:DBMS"] for at, (found, times) in pairs]
    rows = [[*names, MAX, "tag"], *each]
    percents = (_percent(count, sum(sums)) for count in sums)
    rows += [[*map(str, sums), longest, "sum:DBMS"], [*percents, longest, "pct:DBMS"]]
    return "".join("\t".join(row) + "\n" for row in rows)


def _percent(count: int, total: int) -> str:
    """Few, but not none, stands as `nonzero`."""
    shown = f"{100 * (count / total):.3f}"
    return "nonzero" if count and shown == "0.000" else shown


# o.getmin: seconds of the query for the smallest id at the start of steps, and the table that is made of them.

PROBES, SORTED = "o.getmin", ".r"
PROBE_STEPS = ("l.i0", "q100", "q500", "q1000")
_HEAD = "\t".join((*PROBE_STEPS, "dbms")) + "\t" * 4
_CONFIG = re.compile(r"(?P<build>.+)\.c(?P<config>[^._]*?)(?P<number>\d*)(?:_.*)?")


class Probe(NamedTuple):
    path: Path
    line: int
    tag: str
    seconds: Sequence[str]  # of PROBE_STEPS


def parse_probes(content: str, path: Path, faults: Faults) -> list[Probe]:
    """Its last line has no end: it may be half a line, and then has too few figures."""
    found = []
    for at, line in enumerate(content.split("\n"), 1):
        if line and (probe := _probe(line, path, at, faults)):
            found.append(probe)
    return found


def _probe(line: str, path: Path, at: int, faults: Faults) -> Probe | None:
    tag, *seconds = line.split("\t")
    try:
        [float(each) for each in seconds]
    except ValueError:
        seconds = []
    if len(seconds) != len(PROBE_STEPS):
        faults.add(path, at, f"a name and seconds of {', '.join(PROBE_STEPS)} were expected here", line)
        return None
    return Probe(path, at, tag, seconds)


def probe_table(probes: Sequence[Probe]) -> str:
    """Configurations of a build one below the other, those of the next after a line `-`."""
    lines: list[str] = [_HEAD]
    for build in dict.fromkeys(_build(probe.tag) for probe in probes):
        of_build = sorted((probe for probe in probes if _build(probe.tag) == build), key=_rank)
        lines += ["-"] if len(lines) > 1 else []
        lines += ["\t".join((*probe.seconds, probe.tag)) for probe in of_build]
    return "".join(f"{line}\n" for line in lines)


def _build(tag: str) -> str:
    found = _CONFIG.fullmatch(tag)
    return found["build"] if found else tag


def _rank(probe: Probe) -> tuple[str, int, str]:
    """cx7a, cx7a1, cx7a2 … cx7a10."""
    found = _CONFIG.fullmatch(probe.tag)
    if not found:
        return probe.tag, -1, ""
    return found["config"], int(found["number"] or -1), probe.tag
