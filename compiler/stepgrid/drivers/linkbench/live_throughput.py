"""How fast a step is while it runs: the end of the report that its client writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stepgrid.drivers.linkbench.parser import rates, report

TAIL = 65_536  # bytes of its end: a minute of lines of a few clients


def readings(folder: Path) -> Sequence[tuple[float, float]]:
    """What follows the last newline is still being written, and what precedes the first was cut."""
    try:
        with (folder / report.REPORT).open("rb") as file:
            start = max(0, file.seek(0, os.SEEK_END) - TAIL)
            file.seek(start)
            texts = file.read().decode("utf-8", "replace").split("\n")[1 if start else 0 : -1]
    except OSError:
        return ()
    return rates.of_all([line for line in report.lines(texts) if line["report"] == "client"])
