"""The report file: operations per second at intervals, counted by db_bench itself (of every thread, writers too)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stepgrid.drivers.db_bench.live_throughput import per_second
from stepgrid.drivers.db_bench.parser import content
from stepgrid.model.figures import ParseError

LONGEST_HEAD = 4096  # bytes

_COLUMNS = ("secs_elapsed", "interval_qps")


def is_one(path: Path) -> bool:
    """By its first line."""
    try:
        with path.open("rb") as file:
            head = file.readline(LONGEST_HEAD).decode("utf-8", errors="replace")
    except OSError:
        return False
    return set(_COLUMNS) <= set(head.strip().split(","))


def read(path: Path) -> list[tuple[float, float]]:
    """A file that a kill cut off ends in half a line: that line is dropped. No file, no series."""
    try:
        text = content.text(path)
    except FileNotFoundError:
        return []
    if not text:
        return []
    lines = text.split("\n")[:-1]  # what follows the last line end is nothing, or half a line
    if not lines:
        return []
    seconds, qps = _positions(lines[0], path)
    return per_second(_rows(lines[1:], seconds, qps, path))


def _positions(header: str, path: Path) -> tuple[int, int]:
    names = header.strip().split(",")
    if missing := [name for name in _COLUMNS if name not in names]:
        raise ParseError(f"{path}: no column {missing[0]} in its first line, {header.strip()!r}")
    return names.index(_COLUMNS[0]), names.index(_COLUMNS[1])


def _rows(lines: Sequence[str], seconds: int, qps: int, path: Path) -> list[tuple[float, float]]:
    try:
        return [(float(fields[seconds]), float(fields[qps])) for fields in (line.split(",") for line in lines)]
    except (IndexError, ValueError):  # which of them?
        return [_row(line, seconds, qps, f"{path}:{number}") for number, line in enumerate(lines, start=2)]


def _row(line: str, seconds: int, qps: int, where: str) -> tuple[float, float]:
    fields = line.strip().split(",")
    try:
        return float(fields[seconds]), float(fields[qps])
    except (IndexError, ValueError):
        raise ParseError(f"{where}: expected seconds and operations per second, found {line.strip()!r}") from None
