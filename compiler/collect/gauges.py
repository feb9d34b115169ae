"""What a sample says of its moment: how much there was, not how fast it grew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from compiler.collect.trace import Trace, column

if TYPE_CHECKING:
    from compiler.collect.trace import Array


class Gauge(NamedTuple):
    keys: tuple[str, ...]
    less: float = 0.0


class Sum(NamedTuple):
    first: tuple[str, str]
    sign: int
    second: tuple[str, str]


GAUGES: Mapping[str, Gauge] = {
    "run_queue": Gauge(("running",), less=1.0),  # the one that looks runs as well
    "blocked_tasks": Gauge(("blocked",)),
    "memory_free_bytes": Gauge(("memory", "free")),
    "memory_available_bytes": Gauge(("memory", "available")),
    "memory_buffer_bytes": Gauge(("memory", "buffers")),
    "memory_dirty_bytes": Gauge(("memory", "dirty")),
    "cpu_mhz": Gauge(("sensors", "mhz")),
}
SUMS: Mapping[str, Sum] = {
    "memory_cache_bytes": Sum(("memory", "cached"), 1, ("memory", "reclaimable")),
    "swap_used_bytes": Sum(("memory", "swap"), -1, ("memory", "swap_free")),
}
AVERAGED = (*GAUGES, *SUMS)  # over a step: means
AT_THE_END: Mapping[str, Gauge] = {  # of an interval; over a step they are no means
    "cpu_celsius": Gauge(("sensors", "celsius")),
    "database_bytes": Gauge(("database_bytes",)),
}
RESIDENT = {"process_rss_bytes": "process", "server_rss_bytes": "server"}  # likewise


def averaged(trace: Trace) -> dict[str, Array]:
    sums = {name: trace.at(*each.first) + each.sign * trace.at(*each.second) for name, each in SUMS.items()}
    return {**_gauges(trace, GAUGES), **sums}


def at_the_end(trace: Trace) -> dict[str, Array]:
    """Of groups of processes, too: one that has ended holds nothing."""
    import numpy as np

    held = {name: trace.at(part, "rss") for name, part in RESIDENT.items()}
    return {
        **_gauges(trace, AT_THE_END),
        **{name: np.where(found > 0, found, np.nan) for name, found in held.items()},
    }


def _gauges(trace: Trace, said: Mapping[str, Gauge]) -> dict[str, Array]:
    import numpy as np

    found = np.array([trace.at(*each.keys) for each in said.values()])
    return dict(zip(said, np.maximum(found - column(each.less for each in said.values()), 0.0), strict=True))
