"""The compaction table, read by its header: releases add columns (10.3: WPreComp) and sites patch in more."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

Row = Mapping[str, str]

_TITLE = re.compile(r"\n\*\* Compaction Stats \[(.*)\] \*\*")
DEFAULT = "default"  # the column family that is always there
_COUNT = re.compile(r"(\d+)([KMGT]?)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_APART = re.compile(r" (?<=\d )(?=[KMGT]?B\b)")  # a size and its unit; what is literal first, which is found fast
_SUFFIX = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNIT = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_SECONDS = {"compaction_seconds": "Comp(sec)", "compaction_cpu_seconds": "CompMergeCPU(sec)"}
_BYTES = {"blob_read_bytes": "Rblob(GB)", "blob_write_bytes": "Wblob(GB)"}
_COUNTS = {"compactions": "Comp(cnt)", "compaction_keys_in": "KeyIn", "compaction_keys_dropped": "KeyDrop"}


class Table(NamedTuple):
    group: str  # what the rows are called by
    family: str
    columns: Sequence[str]
    cells: Mapping[str, Sequence[str]]  # by name of the row

    def row(self, name: str) -> Row:
        return dict(zip(self.columns, self.cells.get(name, ()), strict=False))


def tables(text: str, group: str = "Level") -> Sequence[Mapping[str, Row]]:
    """Every table of the group, in order: name of the row -> column -> text."""
    return [{name: table.row(name) for name in table.cells} for table in by_family(text, group)]


def by_family(text: str, group: str = "Level") -> Sequence[Table]:
    """`group`: Level, or Priority."""
    return [table for table in _every(text) if table.group == group]


@lru_cache(maxsize=4)
def _every(text: str) -> Sequence[Table]:
    whole = f"\n{text}"
    titles = list(_TITLE.finditer(whole))
    ends = [*(title.start() for title in titles), len(whole)][1:]
    found = (_table(title[1], whole[title.end() : end]) for title, end in zip(titles, ends, strict=True))
    return [table for table in found if table]


def figures(text: str) -> dict[str, float]:
    return _sum(sums(text)) | _level0(_last(text, "L0"))


@lru_cache(maxsize=4)
def sums(text: str) -> Row:
    """Of all levels."""
    return _last(text, "Sum")


def _last(text: str, name: str) -> Row:
    """Of several column families that of the default one; of each dump there is one, and the last counts."""
    found = by_family(text)
    own = [table for table in found if table.family == DEFAULT] or found
    return own[-1].row(name) if own else {}


@lru_cache(maxsize=4096)
def size(text: str) -> float | None:
    """`53.84 MB` in bytes."""
    amount, _, unit = text.partition(" ")
    value = number(amount)
    return value * _UNIT[unit] if value is not None and unit in _UNIT else None


def size_of(row: Row) -> float | None:
    """Up to 5.0 the head says that it is in MB."""
    megabytes = number(row.get("Size(MB)", ""))
    return size(row.get("Size", "")) if megabytes is None else megabytes * 2**20


@lru_cache(maxsize=4096)
def count(text: str) -> float | None:
    """`1662K`: RocksDB's own rounding stays."""
    match = _COUNT.fullmatch(text)
    return float(match[1]) * _SUFFIX[match[2]] if match else None


def _table(family: str, text: str) -> Table | None:
    """`text`: header, dashes and rows, from the title's end."""
    _, header, _, rows = (*text.split("\n", 3), "", "", "")[:4]
    columns = header.split()
    if not columns:
        return None
    doubled = len(set(columns)) != len(columns)
    return Table(columns[0], family, columns, {} if doubled else _cells(rows.partition("\n\n")[0], columns))


def _cells(text: str, columns: Sequence[str]) -> dict[str, Sequence[str]]:
    """A row has as many cells as the header has names, or it is none: nothing ever moves over."""
    found: dict[str, Sequence[str]] = {}
    size = columns.index("Size") if "Size" in columns else None
    for line in _APART.sub("_", text).split("\n"):
        cells = line.split()
        if len(cells) != len(columns):
            break
        if size is not None:
            cells[size] = cells[size].replace("_", " ")
        found[cells[0]] = cells
    return found


def _sum(row: Row) -> dict[str, float]:
    values = {
        "lsm_bytes": size_of(row),
        "lsm_files": _files(row),
        **{name: number(row.get(column, "")) for name, column in _SECONDS.items()},
        **{name: _times(number(row.get(column, "")), 2**30) for name, column in _BYTES.items()},
        **{name: count(row.get(column, "")) for name, column in _COUNTS.items()},
    }
    return {name: value for name, value in values.items() if value is not None}


def _level0(row: Row) -> dict[str, float]:
    values = {"l0_bytes": size_of(row), "l0_files": _files(row)}
    return {name: value for name, value in values.items() if value is not None}


def _files(row: Row) -> float | None:
    """`4/2` is four files, two of them being compacted."""
    return count(row.get("Files", "").partition("/")[0])


@lru_cache(maxsize=4096)  # most cells of most tables are 0.0
def number(text: str) -> float | None:
    """What is new in a level may be less than nothing."""
    match = _NUMBER.fullmatch(text)
    return float(match[0]) if match else None


def _times(value: float | None, factor: int) -> float | None:
    return None if value is None else value * factor
