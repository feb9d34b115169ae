"""A table of the insert benchmark's metrics, by the names in its head: o.sum.t.TAG, mrg.STEP and rel.STEP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import awk, text_files

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
    cells: Mapping[str, str]

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


def parse(content: str, path: Path, faults: Faults) -> Table:
    lines = text_files.all_lines(content)
    head = lines[0].split("\t") if lines else []
    if head[:1] != [FIRST] or head[-1:] != [TAG]:
        faults.add(path, 1, f"a head of columns was expected ({FIRST}, qps, … {TAG})", lines[0] if lines else "")
        return Table(path, (), ())
    return Table(path, head, list(_rows(lines, head, path, faults)))


def _rows(lines: Sequence[str], head: Sequence[str], path: Path, faults: Faults) -> Iterator[Row | None]:
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if line == BREAK:
            yield None
        elif len(cells) == len(head):
            yield _row(dict(zip(head, cells, strict=True)), path, number, line, faults)
        elif line:
            said = f"{len(cells)} cells where {len(head)} were expected, as its head names them"
            faults.add(path, number, said, line)


def _row(cells: Mapping[str, str], path: Path, number: int, line: str, faults: Faults) -> Row:
    for name, cell in cells.items():
        if name != TAG and cell not in ("", NONE) and not awk.is_number(cell):
            faults.add(path, number, f"`{cell}` in {name} is no figure", line)
    return Row(path, number, cells)


def written(head: Sequence[str], rows: Iterable[Mapping[str, str] | None]) -> str:
    lines = (BREAK if row is None else "\t".join(row[name] for name in head) for row in rows)
    return "".join(f"{line}\n" for line in ("\t".join(head), *lines))
