"""What a sample says of its moment: how much there was, not how fast it grew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from stepgrid.collect.samples.sample_arrays import Trace, column

if TYPE_CHECKING:
    from stepgrid.collect.samples.sample_format import Array


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


def averaged(trace: Trace) -> Array:
    """A row for each of AVERAGED."""
    import numpy as np

    sums = [trace.at(*each.first) + each.sign * trace.at(*each.second) for each in SUMS.values()]
    return np.concatenate([_gauges(trace, GAUGES), sums])


def at_the_end(trace: Trace) -> Array:
    """A row for each of AT_THE_END and RESIDENT. A group of processes that has ended holds nothing."""
    import numpy as np

    held = np.array([trace.at(part, "rss") for part in RESIDENT.values()])
    return np.concatenate([_gauges(trace, AT_THE_END), np.where(held > 0, held, np.nan)])


def _gauges(trace: Trace, said: Mapping[str, Gauge]) -> Array:
    import numpy as np

    found = np.array([trace.at(*each.keys) for each in said.values()])
    return np.maximum(found - column(each.less for each in said.values()), 0.0)
