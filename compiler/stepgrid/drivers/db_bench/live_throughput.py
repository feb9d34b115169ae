"""What a db_bench that runs says of its speed: the end of its report file, by the names in its first line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from stepgrid.drivers.db_bench.command import REPORT
from stepgrid.drivers.db_bench.report_rates import per_second

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
