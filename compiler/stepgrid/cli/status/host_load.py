"""What the running step makes the host do: its newest two samples."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.collect.samples import NAME as SAMPLES
from stepgrid.collect.samples import RATES, growth, rates, rows
from stepgrid.host import files

SHOWN = (
    "device_read_mb_per_s", "device_write_mb_per_s", "host_cpu_user_pct", "host_cpu_system_pct", "host_cpu_iowait_pct",
)  # fmt: skip


class Load:
    """Follows one step; another step begins anew."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._tail = Tail(Path())
        self._newest: deque[Mapping[str, Any]] = deque(maxlen=2)

    def of(self, folder: Path) -> dict[str, float]:
        """Rates over the newest second; one that cannot be told is not there."""
        if folder != self._folder:
            self._folder, self._tail = folder, Tail(folder / SAMPLES)
            self._newest.clear()
        self._newest.extend(files.json_records(self._tail.lines()[-2:], "monotonic"))
        if len(self._newest) < 2 or self._newest[1]["monotonic"] <= self._newest[0]["monotonic"]:
            return {}
        values = dict(zip(RATES, rates(growth(*rows(self._newest))), strict=True))
        return {name: values[name] for name in SHOWN if not math.isnan(values[name])}


# A file that grows: its last lines at first, and then what came since. Never more of it than that.

FIRST = 1 << 14  # bytes of the end that are read at first


class Tail:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = -1  # nothing was read yet
        self._half = b""

    def lines(self) -> list[str]:
        """Whole lines only: one that is being written comes when it is whole."""
        try:
            with self.path.open("rb") as file:
                cut = self._place(file.seek(0, os.SEEK_END))
                file.seek(self._at)
                read = file.read()
        except OSError:
            return []
        self._at += len(read)
        *whole, self._half = (self._half + read).split(b"\n")
        return [line.decode("utf-8", "replace") for line in (whole[1:] if cut else whole)]

    def _place(self, end: int) -> bool:
        """At first, and after the file was written anew, its end: whether that may be in the middle of a line."""
        if 0 <= self._at <= end:
            return False
        self._half, self._at = b"", max(end - FIRST, 0)
        return self._at > 0
