"""The last compaction tables, row by row; their columns by their header, under the names of the table `levels`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from stepgrid.drivers.db_bench.parser.dump import compaction

Read = Callable[[str], "float | None"]
_LEVEL, _ANY = re.compile(r"L\d+|Sum|Int"), re.compile(".*")
GB = 2**30


def _number(factor: float = 1.0) -> Read:
    def read(text: str) -> float | None:
        value = compaction.number(text)
        return None if value is None else value * factor

    return _once(read)


def _files(part: int) -> Read:
    """`4/2` is four files, two of them being compacted."""
    return _once(lambda text: compaction.count(f"{text}/".split("/")[part]))


_once = lru_cache(4096)  # most cells of most tables are alike


_COLUMNS: Mapping[str, tuple[str, Read]] = {
    "files": ("Files", _files(0)),
    "compacting_files": ("Files", _files(1)),
    "bytes": ("Size", compaction.size),
    "score": ("Score", _number()),
    "read_bytes": ("Read(GB)", _number(GB)),
    "read_own_bytes": ("Rn(GB)", _number(GB)),
    "read_next_bytes": ("Rnp1(GB)", _number(GB)),
    "write_bytes": ("Write(GB)", _number(GB)),
    "write_uncompressed_bytes": ("WPreComp(GB)", _number(GB)),
    "write_new_bytes": ("Wnew(GB)", _number(GB)),
    "moved_bytes": ("Moved(GB)", _number(GB)),
    "write_amplification": ("W-Amp", _number()),
    "read_mb_per_s": ("Rd(MB/s)", _number()),
    "write_mb_per_s": ("Wr(MB/s)", _number()),
    "seconds": ("Comp(sec)", _number()),
    "cpu_seconds": ("CompMergeCPU(sec)", _number()),
    "compactions": ("Comp(cnt)", _number()),
    "average_seconds": ("Avg(sec)", _number()),
    "keys_in": ("KeyIn", compaction.count),
    "keys_dropped": ("KeyDrop", compaction.count),
    "blob_read_bytes": ("Rblob(GB)", _number(GB)),
    "blob_write_bytes": ("Wblob(GB)", _number(GB)),
}
_IN_MEGABYTES: tuple[str, str, Read] = ("bytes", "Size(MB)", _number(2**20))  # up to 5.0


def levels(text: str) -> list[dict[str, float | str]]:
    """Of each column family its last: by level, then by the priority of the threads that did the work."""
    return [*_rows(text, "Level", _LEVEL), *_rows(text, "Priority", _ANY)]


def _rows(text: str, group: str, named: re.Pattern[str]) -> Iterator[dict[str, float | str]]:
    last = {table.family: table for table in compaction.by_family(text, group)}
    for family, table in last.items():
        columns = _known(tuple(table.columns))
        for name, cells in table.cells.items():
            if named.fullmatch(name):
                yield {"family": family, group.lower(): name, **_row(columns, cells)}


def _row(columns: Sequence[tuple[str, int, Read]], cells: Sequence[str]) -> dict[str, float]:
    return {name: value for name, at, read in columns if (value := read(cells[at])) is not None}


@lru_cache(16)
def _known(header: tuple[str, ...]) -> Sequence[tuple[str, int, Read]]:
    every = [*((name, *column) for name, column in _COLUMNS.items()), _IN_MEGABYTES]
    return [(name, header.index(column), read) for name, column, read in every if column in header]
