"""The last compaction table, level by level; its columns by their header, under the names of the table `levels`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from compiler.drivers.db_bench.parse import compaction

Read = Callable[[str], "float | None"]
_LEVEL = re.compile(r"L\d+|Sum")
GB = 2**30


def _number(factor: float = 1.0) -> Read:
    def read(text: str) -> float | None:
        return float(text) * factor if text.replace(".", "", 1).isdecimal() else None

    return read


def _files(part: int) -> Read:
    """`4/2` is four files, two of them being compacted."""
    return lambda text: compaction.count(f"{text}/".split("/")[part])


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


def levels(text: str) -> list[dict[str, float | str]]:
    found = compaction.tables(text)
    last = found[-1].items() if found else ()
    return [{"level": level, **_level(row)} for level, row in last if _LEVEL.fullmatch(level)]


def _level(row: compaction.Row) -> dict[str, float]:
    read = {name: reader(row.get(column, "")) for name, (column, reader) in _COLUMNS.items()}
    return {name: value for name, value in read.items() if value is not None}
