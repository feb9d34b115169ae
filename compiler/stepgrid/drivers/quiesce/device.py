"""How busy the database's device was since the last look."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.host import counters, disk
from stepgrid.plugins.server import IdleReading

SECTOR = 512
SHORTEST = 0.1  # seconds: the rate of an instant says nothing; the next look has it
BUSY, WRITES = "device busy", "device writes"


class Device:
    """`most_busy`: percent; `most_written`: bytes per second. Without a device (tmpfs) there is nothing to see, and
    nothing of a server that ran before, where nobody knows what it is on (`data` is None)."""

    def __init__(self, data: Path | None, said: str | None, most_busy: float, most_written: float) -> None:
        self.name = disk.device(data or Path("/"), said) if data or said else None
        self._members = disk.members(self.name) if self.name else []
        self._most_busy, self._most_written = most_busy, most_written
        self._last = self._read()

    def seen(self) -> Sequence[IdleReading]:
        before, now = self._last, self._read()
        seconds = now[0] - before[0]
        if seconds < SHORTEST:
            return ()
        self._last = now
        if self.name is None or self.name not in before[1]:
            return ()
        busy = max(_rate(before[1], now[1], name, "busy_ms", seconds) for name in before[1]) / 10
        written = _rate(before[1], now[1], self.name, "write_sectors", seconds) * SECTOR
        return (
            IdleReading(BUSY, round(min(busy, 100.0), 2), self._most_busy, "%"),
            IdleReading(WRITES, round(written), self._most_written, "B/s"),
        )

    def _read(self) -> tuple[float, Mapping[str, Mapping[str, int]]]:
        """A RAID's own count of busy time is none on older kernels: that of its busiest member is."""
        found = counters.host(self.name, self._members).get("devices", {})
        return time.monotonic(), found


def _rate(
    before: Mapping[str, Mapping[str, int]], now: Mapping[str, Mapping[str, int]], name: str, key: str, seconds: float
) -> float:
    return (now.get(name, {}).get(key, 0) - before[name].get(key, 0)) / seconds
