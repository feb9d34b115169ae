"""What two samples say of the time between them: counters to rates, by the definitions of iostat and vmstat.

All figures of a kind are worked out at once: a step has thirty samples or so, and numpy costs more to call than to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from stepgrid.collect.samples.sample_arrays import Pairs, column
from stepgrid.collect.samples.sample_format import DEVICE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stepgrid.collect.samples.sample_format import Array

SECTOR_KB = 0.5
SECTOR_MB = 512 / 1048576
BYTE_MB = 1 / 1048576


class Counter(NamedTuple):
    """A counter's way, by second."""

    keys: tuple[str, ...]
    scale: float = 1.0


class Ratio(NamedTuple):
    """A counter's way, by request."""

    counter: str
    requests: str
    scale: float = 1.0


SHARES: Mapping[str, tuple[str, ...]] = {
    "host_cpu_user_pct": ("user", "nice"),  # /proc/stat counts guests as user, as vmstat does
    "host_cpu_system_pct": ("system", "irq", "softirq"),
    "host_cpu_idle_pct": ("idle",),
    "host_cpu_iowait_pct": ("iowait",),
    "host_cpu_steal_pct": ("steal",),
}
BUSY = {"process_cores": "process", "server_cores": "server"}  # groups of processes: cores that they kept busy
COUNTED: Mapping[str, Counter] = {
    "context_switches_per_s": Counter(("switches",)),
    "interrupts_per_s": Counter(("interrupts",)),
    "host_read_mb_per_s": Counter(("paging", "read"), BYTE_MB),
    "host_write_mb_per_s": Counter(("paging", "written"), BYTE_MB),
    "swap_in_mb_per_s": Counter(("paging", "swapped_in"), BYTE_MB),
    "swap_out_mb_per_s": Counter(("paging", "swapped_out"), BYTE_MB),
    "device_reads_per_s": Counter((DEVICE, "reads")),
    "device_read_mb_per_s": Counter((DEVICE, "read_sectors"), SECTOR_MB),
    "device_read_merges_per_s": Counter((DEVICE, "read_merges")),
    "device_writes_per_s": Counter((DEVICE, "writes")),
    "device_write_mb_per_s": Counter((DEVICE, "write_sectors"), SECTOR_MB),
    "device_write_merges_per_s": Counter((DEVICE, "write_merges")),
    "device_discards_per_s": Counter((DEVICE, "discards")),
    "device_discard_mb_per_s": Counter((DEVICE, "discard_sectors"), SECTOR_MB),
    "device_flushes_per_s": Counter((DEVICE, "flushes")),
    "device_queue": Counter((DEVICE, "queue_ms"), 0.001),
    "device_busy_pct": Counter((DEVICE, "busy_ms"), 0.1),
    "pressure_cpu_pct": Counter(("pressure", "cpu"), 1e-4),
    "pressure_io_pct": Counter(("pressure", "io"), 1e-4),
    "pressure_memory_pct": Counter(("pressure", "memory"), 1e-4),
}
RATES = (*SHARES, *BUSY, *COUNTED)  # over a step: from its first sample to its last
RATIOS: Mapping[str, Ratio] = {  # over a step: means of those of the intervals
    "device_read_await_ms": Ratio("read_ms", "reads"),
    "device_read_request_kb": Ratio("read_sectors", "reads", SECTOR_KB),
    "device_write_await_ms": Ratio("write_ms", "writes"),
    "device_write_request_kb": Ratio("write_sectors", "writes", SECTOR_KB),
    "device_discard_await_ms": Ratio("discard_ms", "discards"),
    "device_flush_await_ms": Ratio("flush_ms", "flushes"),
}
PER_OPERATION: Mapping[str, Counter] = {  # over a step, by operation of its benchmark
    "context_switches_per_op": Counter(("switches",)),
    "reads_per_op": Counter((DEVICE, "reads")),
    "read_kb_per_op": Counter((DEVICE, "read_sectors"), SECTOR_KB),
    "writes_per_op": Counter((DEVICE, "writes")),
    "write_kb_per_op": Counter((DEVICE, "write_sectors"), SECTOR_KB),
}
HOST_CPU = "host_cpu_us_per_op"
WORK = (*PER_OPERATION, HOST_CPU)
_AT_WORK = (*SHARES["host_cpu_user_pct"], *SHARES["host_cpu_system_pct"])


def rates(pairs: Pairs) -> Array:
    """A row for each of RATES."""
    import numpy as np

    return np.concatenate([_shares(pairs), _busy(pairs), _counted(pairs, COUNTED) / pairs.seconds])


def ratios(pairs: Pairs) -> Array:
    """A row for each of RATIOS; one without requests is missing."""
    import numpy as np

    passed = np.array([pairs.delta(DEVICE, each.counter) for each in RATIOS.values()])
    count = np.array([pairs.delta(DEVICE, each.requests) for each in RATIOS.values()])
    return passed * column(each.scale for each in RATIOS.values()) / np.where(count > 0, count, np.nan)


def work(pairs: Pairs) -> Array:
    """A row for each of WORK: of all operations together."""
    import numpy as np

    known, filled = _cpu(pairs, _AT_WORK)
    busy = np.where(known.any(axis=0), 1e6 * filled.sum(axis=0), np.nan)
    return np.concatenate([_counted(pairs, PER_OPERATION), [busy]])


def _shares(pairs: Pairs) -> Array:
    import numpy as np

    every = pairs.section("cpu")
    total = np.where(every == every, every, 0.0).sum(axis=0)
    passed, found = np.where(total > 0, total, 1.0), []
    for kinds in SHARES.values():
        known, filled = _cpu(pairs, kinds)
        found.append(np.where(known.any(axis=0) & (total > 0), 100.0 * filled.sum(axis=0) / passed, np.nan))
    return np.array(found)


def _cpu(pairs: Pairs, kinds: Iterable[str]) -> tuple[NDArray[np.bool_], Array]:
    """Of these kinds of time a row each: whether it is known, and how much it was."""
    import numpy as np

    part = np.array([pairs.delta("cpu", kind) for kind in kinds])
    known = part == part  # NaN is unlike itself
    return known, np.where(known, part, 0.0)


def _busy(pairs: Pairs) -> Array:
    import numpy as np

    both = [pairs.delta(group, "user") + pairs.delta(group, "system") for group in BUSY.values()]
    return np.array(both) / pairs.seconds


def _counted(pairs: Pairs, asked: Mapping[str, Counter]) -> Array:
    import numpy as np

    passed = np.array([pairs.delta(*each.keys) for each in asked.values()])
    return passed * column(each.scale for each in asked.values())
