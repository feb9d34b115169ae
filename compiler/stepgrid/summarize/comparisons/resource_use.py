"""What an arm and its base used per operation, and how much of the change in response time that explains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from stepgrid.host.counters import KIB
from stepgrid.model.metrics import QPS
from stepgrid.summarize.data.points import Point

IDLE = 10.0  # percent of the host's CPU: with less of it operations wait for a processor
OWN_BYTES = {
    "read": ("process_read_bytes", "server_read_bytes"),
    "write": ("process_write_bytes", "server_write_bytes"),
}


class Used(NamedTuple):
    """The figures of an arm and its base, medians of the loads."""

    arm: float
    base: float

    @property
    def times(self) -> float:
        return self.arm / self.base if self.arm > 0 and self.base > 0 else math.inf

    @property
    def more(self) -> float:
        return self.arm - self.base


@dataclass(frozen=True, slots=True)
class Pair:
    arm: Point
    base: Point

    def used(self, metric: str) -> Used | None:
        found = figure(self.arm, metric), figure(self.base, metric)
        return None if found[0] is None or found[1] is None else Used(found[0], found[1])

    @property
    def longer(self) -> float | None:
        """Microseconds that an operation takes more, of the client that asks for it."""
        found = self.used("avg_us")
        return found.more if found else None

    @property
    def slower(self) -> Point:
        rate = self.used(QPS)
        return self.base if rate and rate.more > 0 else self.arm

    def processor_time(self, cpu: Used) -> float:
        """Microseconds more of CPU, with the wait for a processor where none is idle."""
        return cpu.arm * _crowding(self.arm) - cpu.base * _crowding(self.base)

    def requests(self, word: str) -> Used | None:
        """Reads or writes of the device per operation that are the step's own: others may use the device, too."""
        found = _requests(self.arm, word), _requests(self.base, word)
        return None if found[0] is None or found[1] is None else Used(found[0], found[1])


def figure(point: Point, metric: str) -> float | None:
    found = point.spread(metric)
    return found[0] if found else None


def _crowding(point: Point) -> float:
    """How much longer than its CPU an operation takes because clients wait for processors."""
    idle, time, cpu = (figure(point, each) for each in ("host_cpu_idle_pct", "avg_us", "cpu_us_per_op"))
    if idle is None or not time or not cpu or idle >= IDLE:
        return 1.0
    return max(1.0, time / cpu)


def _requests(point: Point, word: str) -> float | None:
    """By the share of the device's bytes that the step's processes caused."""
    count, kib, operations = (figure(point, each) for each in (f"{word}s_per_op", f"{word}_kb_per_op", "operations"))
    own = [found for each in OWN_BYTES[word] if (found := figure(point, each)) is not None]
    if count is None or not own or not operations or not kib:
        return count
    return count * min(1.0, sum(own) / operations / (kib * KIB))
