"""summary.tsv and the files that are cut from it: for each step the head, a row per build, and an empty line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from compiler.legacy import text
from compiler.legacy.db_bench.columns import COLUMNS, HEAD, Row
from compiler.legacy.fault import Faults

Block = Sequence[Row | None]  # None: the report of that build has no such line


class Grouped(NamedTuple):
    path: Path
    reports: Sequence[str]  # path of each build's report as the file begins with them; a cut has none
    blocks: Sequence[Block]


def parse(content: str, path: Path, faults: Faults) -> Grouped:
    reports: list[str] = []
    blocks: list[list[Row | None]] = []
    for number, line in enumerate(text.lines(content), 1):
        if line.startswith(f"{COLUMNS[0]}\t"):
            blocks.append([])
        elif not blocks and line:
            reports.append(line)
        elif line and (row := parse_row(line, path, number, faults)):
            blocks[-1].append(row)
    if not blocks:
        faults.add(path, None, f"no line of column heads ({COLUMNS[0]}, {COLUMNS[1]}, …) is in it")
    return Grouped(path, reports, blocks)


def parse_row(line: str, path: Path, number: int, faults: Faults) -> Row | None:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        faults.add(path, number, f"{len(cells)} columns where {len(COLUMNS)} were expected, {HEAD.split()[0]} …", line)
        return None
    return Row(path, number, line, dict(zip(COLUMNS, cells, strict=True)))


def written(blocks: Iterable[Block], reports: Sequence[str] = ()) -> str:
    begin = [*reports, ""] if reports else []
    lines = (line for block in blocks for line in (HEAD, *(row.text for row in block if row), ""))
    return "".join(f"{line}\n" for line in (*begin, *lines))


def uneven(found: Grouped) -> list[int]:
    """Steps (from 0) that have not a row per build: grouping by line number moved something."""
    count = len(found.reports) or max(map(len, found.blocks), default=0)
    return [index for index, block in enumerate(found.blocks) if len(block) != count]
