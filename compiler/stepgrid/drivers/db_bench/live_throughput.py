"""What a db_bench that runs says of its speed: the end of its report file, by the names in its first line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from operator import sub
from pathlib import Path

from stepgrid.drivers.db_bench.command import REPORT

TAIL = 8192  # bytes of its end: some minutes of lines


def readings(folder: Path) -> Sequence[tuple[float, float]]:
    try:
        with (folder / REPORT).open("rb") as file:
            names = file.readline().decode().strip().split(",")
            start = file.tell()
            file.seek(max(start, file.seek(0, os.SEEK_END) - TAIL))
            whole = file.tell() == start
            lines = file.read().decode().split("\n")[:-1]  # what follows the last newline is still being written
        columns = names.index("secs_elapsed"), names.index("interval_qps")
    except (OSError, ValueError):
        return ()
    return per_second(list(_rows(lines if whole else lines[1:], *columns)), 0.0 if whole else None)


def _rows(lines: Sequence[str], seconds: int, qps: int) -> Iterator[tuple[float, float]]:
    for line in lines:
        fields = line.split(",")
        try:
            yield float(fields[seconds]), float(fields[qps])
        except (ValueError, IndexError):
            continue


# The report file counts the operations of an interval, and calls that interval_qps whatever its seconds.

Rows = Sequence[tuple[float, float]]  # second at the end of an interval, operations in it


def per_second(rows: Rows, start: float | None = 0.0) -> list[tuple[float, float]]:
    """`start`: when the first interval began, if that is known.

    Seconds are rounded, so that one may seem to be two: the interval is what most of them are.
    """
    ends = [*(() if start is None else (start,)), *(second for second, _ in rows)]
    passed = sorted(map(sub, ends[1:], ends))
    usual = passed[len(passed) // 2] if passed else 1.0
    if usual == 1.0 or usual <= 0:
        return list(rows)
    return [(second, operations / usual) for second, operations in rows]
