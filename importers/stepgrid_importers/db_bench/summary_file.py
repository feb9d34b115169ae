"""summary.tsv and the files that are cut from it: for each step the head, a row per build, and an empty line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.plugins.importer import Faults
from stepgrid_importers.db_bench.columns import COLUMNS, FAILED, HEAD, LATER, METRICS, NONE, Row
from stepgrid_importers.db_bench.names import REPORT
from stepgrid_importers.shared import awk, text_files

Block = Sequence[Row | None]  # None: the report of that build has no such line


class GroupedReports(NamedTuple):
    path: Path
    reports: Sequence[str]  # path of each build's report as the file begins with them; a cut has none
    blocks: Sequence[Block]


def parse(content: str, path: Path, faults: Faults) -> GroupedReports:
    reports: list[str] = []
    blocks: list[list[Row | None]] = []
    stray: list[tuple[int, str]] = []
    head = HEAD
    for number, line in enumerate(text_files.all_lines(content), 1):
        if line.startswith(f"{COLUMNS[0]}\t"):
            head = _head(line, path, number, faults)
            blocks.append([])
        elif not blocks and line:
            reports.append(line)
            stray += [] if line.endswith(REPORT) else [(number, line)]
        elif line and (row := parse_row(line, path, number, faults, head)):
            blocks[-1].append(row)
    if not blocks:
        faults.add(path, None, f"no line of column heads ({COLUMNS[0]}, {COLUMNS[1]}, …) is in it")
    for number, line in stray if blocks else ():
        faults.add_unknown(path, number, f"the path of a {REPORT}, or column heads were expected", line)
    return GroupedReports(path, reports, blocks)


def parse_row(line: str, path: Path, number: int, faults: Faults, head: str = HEAD) -> Row | None:
    names, cells = head.split("\t"), line.split("\t")
    if len(cells) != len(names):
        faults.add(path, number, f"{len(cells)} cells where {len(names)} were expected, as its head names them", line)
        return None
    for name, cell in zip(names, cells, strict=True):
        if METRICS.get(name) and not (cell in ("", NONE, FAILED) or awk.is_number(cell)):
            faults.add_unknown(path, number, f"`{cell}` in {name} is no figure", line)
    return Row(path, number, line, {**dict.fromkeys(COLUMNS, ""), **dict(zip(names, cells, strict=True))}, head)


def _head(line: str, path: Path, number: int, faults: Faults) -> str:
    if lacking := [name for name in COLUMNS if name not in (*line.split("\t"), *LATER)]:
        faults.add(path, number, f"the head lacks {', '.join(lacking)}", line)
        return HEAD
    return line


def lines(block: Block) -> list[str]:
    """The head, and the rows that there are."""
    rows = [row for row in block if row]
    return [rows[0].head if rows else HEAD, *(row.text for row in rows)]


def written(blocks: Iterable[Block], reports: Sequence[str] = ()) -> str:
    begin = [*reports, ""] if reports else []
    return "".join(f"{line}\n" for line in (*begin, *(line for block in blocks for line in (*lines(block), ""))))


def uneven(found: GroupedReports) -> list[int]:
    """Steps (from 0) that have not a row per build: grouping by line number moved something."""
    count = len(found.reports) or max(map(len, found.blocks), default=0)
    return [index for index, block in enumerate(found.blocks) if len(block) != count]
