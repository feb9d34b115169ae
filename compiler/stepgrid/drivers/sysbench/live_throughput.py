"""How fast a step is while it runs: the end of the report that its workload writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stepgrid.drivers.sysbench.parser import exact

TAIL = 16_384  # bytes of its end: a minute of lines


def readings(folder: Path) -> Sequence[tuple[float, float]]:
    """What follows the last newline is still being written, and what precedes the first was cut."""
    try:
        with (folder / exact.REPORT).open("rb") as file:
            start = max(0, file.seek(0, os.SEEK_END) - TAIL)
            file.seek(start)
            lines = file.read().decode("utf-8", "replace").split("\n")[1 if start else 0 : -1]
    except OSError:
        return ()
    return exact.series(exact.lines(lines))
