"""What two samples say of the time between them: counters to rates, by the definitions of iostat and vmstat.

All figures of a kind are worked out at once: a step has thirty samples or so, and numpy costs more to call than to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from compiler.collect.trace import DEVICE, Pairs, column

if TYPE_CHECKING:
    from compiler.collect.trace import Array

SECTOR_KB = 0.5
SECTOR_MB = 512 / 1048576
BYTE_MB = 1 / 1048576


class Counted(NamedTuple):
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
COUNTED: Mapping[str, Counted] = {
    "context_switches_per_s": Counted(("switches",)),
    "interrupts_per_s": Counted(("interrupts",)),
    "host_read_mb_per_s": Counted(("paging", "read"), BYTE_MB),
    "host_write_mb_per_s": Counted(("paging", "written"), BYTE_MB),
    "swap_in_mb_per_s": Counted(("paging", "swapped_in"), BYTE_MB),
    "swap_out_mb_per_s": Counted(("paging", "swapped_out"), BYTE_MB),
    "device_reads_per_s": Counted((DEVICE, "reads")),
    "device_read_mb_per_s": Counted((DEVICE, "read_sectors"), SECTOR_MB),
    "device_read_merges_per_s": Counted((DEVICE, "read_merges")),
    "device_writes_per_s": Counted((DEVICE, "writes")),
    "device_write_mb_per_s": Counted((DEVICE, "write_sectors"), SECTOR_MB),
    "device_write_merges_per_s": Counted((DEVICE, "write_merges")),
    "device_discards_per_s": Counted((DEVICE, "discards")),
    "device_discard_mb_per_s": Counted((DEVICE, "discard_sectors"), SECTOR_MB),
    "device_flushes_per_s": Counted((DEVICE, "flushes")),
    "device_queue": Counted((DEVICE, "queue_ms"), 0.001),
    "device_busy_pct": Counted((DEVICE, "busy_ms"), 0.1),
    "pressure_cpu_pct": Counted(("pressure", "cpu"), 1e-4),
    "pressure_io_pct": Counted(("pressure", "io"), 1e-4),
    "pressure_memory_pct": Counted(("pressure", "memory"), 1e-4),
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


def rates(pairs: Pairs) -> dict[str, Array]:
    """All of RATES."""
    return {**_shares(pairs), **_busy(pairs), **_counted(pairs)}


def ratios(pairs: Pairs) -> dict[str, Array]:
    """All of RATIOS; one without requests is missing."""
    import numpy as np

    passed = np.array([pairs.delta(DEVICE, each.counter) for each in RATIOS.values()])
    count = np.array([pairs.delta(DEVICE, each.requests) for each in RATIOS.values()])
    found = passed * column(each.scale for each in RATIOS.values()) / np.where(count > 0, count, np.nan)
    return dict(zip(RATIOS, found, strict=True))


def _shares(pairs: Pairs) -> dict[str, Array]:
    import numpy as np

    passed = pairs.deltas("cpu")
    known = {kind: ~np.isnan(values) for kind, values in passed.items()}
    filled = {kind: np.where(known[kind], values, 0.0) for kind, values in passed.items()}
    total = sum(filled.values(), np.zeros(len(pairs.seconds)))
    found = {}
    for name, kinds in SHARES.items():
        there = [kind for kind in kinds if kind in passed]
        said = np.any([known[kind] for kind in there], axis=0) & (total > 0) if there else np.zeros(len(total), bool)
        part = sum((filled[kind] for kind in there), np.zeros(len(total)))
        found[name] = np.where(said, 100.0 * part / np.where(total > 0, total, 1.0), np.nan)
    return found


def _busy(pairs: Pairs) -> dict[str, Array]:
    return {
        name: (pairs.delta(group, "user") + pairs.delta(group, "system")) / pairs.seconds
        for name, group in BUSY.items()
    }


def _counted(pairs: Pairs) -> dict[str, Array]:
    import numpy as np

    passed = np.array([pairs.delta(*each.keys) for each in COUNTED.values()])
    found = passed * column(each.scale for each in COUNTED.values()) / pairs.seconds
    return dict(zip(COUNTED, found, strict=True))
