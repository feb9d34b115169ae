"""report.tsv of a build, summary.tsv of several, and cuts of that: which of our metrics each of 28 columns holds.

Not always the one that its name says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, TypeAlias

from stepgrid_importers.db_bench.names import REPORT
from stepgrid_importers.shared import awk, text_files
from stepgrid_published.importer import Faults

Release: TypeAlias = tuple[int, ...]

GIB = 2.0**30
LATER = ("githash",)  # columns that the first releases of the script lack
FAILED = "failed"  # in the first column of a step without a result
NONE = "NA"

METRICS: Mapping[str, tuple[str, float] | None] = {  # column -> our metric, and what one of the column is of it
    "ops_sec": ("qps", 1),
    "mb_sec": ("mb_per_s", 1),
    "lsm_sz": ("lsm_bytes", GIB),
    "blob_sz": ("blob_bytes", GIB),
    "c_wgb": ("compaction_write_bytes", GIB),
    "w_amp": None,  # adds the flushed bytes once more
    "c_mbps": ("compaction_write_mb_per_s", 1),
    "c_wsecs": ("compaction_seconds", 1),
    "c_csecs": ("compaction_cpu_seconds", 1),
    "b_rgb": ("blob_read_bytes", GIB),
    "b_wgb": ("blob_write_bytes", GIB),
    "usec_op": ("usec_per_op", 1),
    "p50": ("p50_us", 1),
    "p99": ("p99_us", 1),
    "p99.9": ("p99_9_us", 1),
    "p99.99": ("p99_99_us", 1),
    "pmax": ("max_us", 1),
    "uptime": ("uptime_seconds", 1),
    "stall%": ("stall_pct", 1),
    "Nstall": ("stalls", 1),
    "u_cpu": None,  # with s_cpu: cpu_seconds
    "s_cpu": None,
    "rss": ("process_rss_bytes", GIB),
    "test": None,
    "date": None,
    "version": None,
    "job_id": None,
    "githash": None,
}
COLUMNS = tuple(METRICS)
HEAD = "\t".join(COLUMNS)

# since it prints WPreComp(GB), every later column of the compaction table is one word farther
SHIFTED_FROM: Release = (10, 3)
SHIFTED: Mapping[str, tuple[str, float] | None] = {
    "c_wsecs": None,  # Wr(MB/s)
    "c_csecs": ("compaction_seconds", 1),
    "b_rgb": None,  # KeyDrop
    "b_wgb": ("blob_read_bytes", GIB),
}
GLUED_DIGITS = 8  # of a highest latency: ten seconds; the script prints those of two histograms in one


class Row(NamedTuple):
    path: Path
    line: int
    text: str
    cells: Mapping[str, str]
    head: str = HEAD  # as it stands above the row

    @property
    def test(self) -> str:
        return self.cells["test"]

    @property
    def version(self) -> str:
        return self.cells["version"]

    @property
    def failed(self) -> bool:
        return self.cells["ops_sec"] == FAILED


def release(version: str) -> Release:
    """`10.3.4` as numbers, as far as there are any."""
    return tuple(map(int, takewhile(str.isdecimal, version.split("."))))


def shifted(row: Row) -> bool:
    return release(row.version) >= SHIFTED_FROM


def glued(row: Row) -> bool:
    return len(row.cells["pmax"]) >= GLUED_DIGITS


# summary.tsv and the files that are cut from it: for each step the head, a row per build, and an empty line

Block = Sequence[Row | None]  # None: the report of that build has no such line


class GroupedReports(NamedTuple):
    path: Path
    reports: Sequence[str]  # path of each build's report as the file begins with them; a cut has none
    blocks: Sequence[Block]


def parse_reports(content: str, path: Path, faults: Faults) -> GroupedReports:
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


def block_lines(block: Block) -> list[str]:
    """The head, and the rows that there are."""
    rows = [row for row in block if row]
    return [rows[0].head if rows else HEAD, *(row.text for row in rows)]


def written(blocks: Iterable[Block], reports: Sequence[str] = ()) -> str:
    begin = [*reports, ""] if reports else []
    return "".join(f"{line}\n" for line in (*begin, *(line for block in blocks for line in (*block_lines(block), ""))))


def uneven(found: GroupedReports) -> list[int]:
    """Steps (from 0) that have not a row per build: grouping by line number moved something."""
    count = len(found.reports) or max(map(len, found.blocks), default=0)
    return [index for index, block in enumerate(found.blocks) if len(block) != count]


def repeated(blocks: Sequence[Block]) -> bool:
    """Whether the rows of each step are repeats: of one version and one commit."""
    builds = {(row.version, row.cells["githash"]) for block in blocks for row in block if row}
    return len(builds) == 1 and all(len(block) > 1 and all(block) for block in blocks)
