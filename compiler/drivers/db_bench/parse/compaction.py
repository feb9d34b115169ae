"""The compaction table, read by its header: releases add columns (10.3: WPreComp) and sites patch in more."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

Row = Mapping[str, str]

_TITLE = re.compile(r"^\*\* Compaction Stats \[")
_SUFFIX = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNIT = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_SECONDS = {"compaction_seconds": "Comp(sec)", "compaction_cpu_seconds": "CompMergeCPU(sec)"}
_BYTES = {"blob_read_bytes": "Rblob(GB)", "blob_write_bytes": "Wblob(GB)"}
_COUNTS = {"compactions": "Comp(cnt)", "compaction_keys_in": "KeyIn", "compaction_keys_dropped": "KeyDrop"}


@lru_cache(maxsize=2)
def tables(text: str, group: str = "Level") -> Sequence[Mapping[str, Row]]:
    """Every table of the group, in order: name of the row -> column -> text."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if _TITLE.match(line)]
    return [_table(lines[start + 1 :]) for start in starts if lines[start + 1 : start + 2] and _is(lines, start, group)]


def figures(text: str) -> dict[str, float]:
    """Of the last table."""
    found = tables(text)
    if not found:
        return {}
    return _sum(found[-1].get("Sum", {})) | _level0(found[-1].get("L0", {}))


def size(text: str) -> float | None:
    """`53.84 MB` in bytes."""
    number, _, unit = text.partition(" ")
    return float(number) * _UNIT[unit] if unit in _UNIT else None


def count(text: str) -> float | None:
    """`1662K`: RocksDB's own rounding stays."""
    match = re.fullmatch(r"(\d+)([KMGT]?)", text)
    return float(match[1]) * _SUFFIX[match[2]] if match else None


def _is(lines: Sequence[str], start: int, group: str) -> bool:
    return lines[start + 1].split()[:1] == [group]


def _table(lines: Sequence[str]) -> dict[str, Row]:
    names = lines[0].split()
    rows: dict[str, Row] = {}
    for line in lines[2:]:
        cells = _cells(line, names)
        if cells is None:
            break
        rows[cells[names[0]]] = cells
    return rows


def _cells(line: str, names: Sequence[str]) -> dict[str, str] | None:
    """A row has as many cells as the header has names, or it is none: nothing ever moves over."""
    cells = re.sub(r"(?<=\d) ([KMGT]?B)\b", r"_\1", line).split()
    if len(cells) != len(names) or len(set(names)) != len(names):
        return None
    return {name: cell.replace("_", " ") if name == "Size" else cell for name, cell in zip(names, cells, strict=True)}


def _sum(row: Row) -> dict[str, float]:
    values = {
        "lsm_bytes": size(row.get("Size", "")),
        "lsm_files": _files(row),
        **{name: _number(row, column) for name, column in _SECONDS.items()},
        **{name: _times(_number(row, column), 2**30) for name, column in _BYTES.items()},
        **{name: count(row.get(column, "")) for name, column in _COUNTS.items()},
    }
    return {name: value for name, value in values.items() if value is not None}


def _level0(row: Row) -> dict[str, float]:
    values = {"l0_bytes": size(row.get("Size", "")), "l0_files": _files(row)}
    return {name: value for name, value in values.items() if value is not None}


def _files(row: Row) -> float | None:
    """`4/2` is four files, two of them being compacted."""
    return count(row.get("Files", "").partition("/")[0])


def _number(row: Row, column: str) -> float | None:
    match = re.fullmatch(r"\d+(\.\d+)?", row.get(column, ""))
    return float(match[0]) if match else None


def _times(value: float | None, factor: int) -> float | None:
    return None if value is None else value * factor
