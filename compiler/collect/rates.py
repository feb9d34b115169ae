"""What two samples say of the time between them: counters to rates, by the definitions of iostat and vmstat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from compiler.collect.trace import DEVICE, Pairs, Trace

if TYPE_CHECKING:
    from compiler.collect.trace import Array

SECTOR_KB = 0.5
SECTOR_MB = 512 / 1048576
BYTE_MB = 1 / 1048576
Figure = Callable[[Pairs], "Array"]
Gauge = Callable[[Trace], "Array"]


def _cpu(*kinds: str) -> Figure:
    def share(pairs: Pairs) -> Array:
        import numpy as np

        passed = pairs.deltas("cpu")
        parts = [passed[kind] for kind in kinds if kind in passed]
        if not parts:
            return np.full(len(pairs.seconds), np.nan)
        total = np.nansum(list(passed.values()), axis=0)
        known = ~np.isnan(parts).all(axis=0) & (total > 0)
        return np.where(known, 100.0 * np.nansum(parts, axis=0) / np.where(total > 0, total, 1.0), np.nan)

    return share


def _rate(*keys: str, scale: float = 1.0) -> Figure:
    def rate(pairs: Pairs) -> Array:
        return pairs.delta(*keys) * scale / pairs.seconds

    return rate


def _per_request(counter: str, requests: str, scale: float = 1.0) -> Figure:
    def ratio(pairs: Pairs) -> Array:
        import numpy as np

        count = pairs.delta(DEVICE, requests)
        return pairs.delta(DEVICE, counter) * scale / np.where(count > 0, count, np.nan)

    return ratio


def _busy(group: str) -> Figure:
    """Cores that a group of processes kept busy, on average."""

    def cores(pairs: Pairs) -> Array:
        return (pairs.delta(group, "user") + pairs.delta(group, "system")) / pairs.seconds

    return cores


def _gauge(*keys: str, less: float = 0.0) -> Gauge:
    def value(trace: Trace) -> Array:
        import numpy as np

        return np.maximum(trace.at(*keys) - less, 0.0)

    return value


def _sum(first: tuple[str, str], sign: int, second: tuple[str, str]) -> Gauge:
    def value(trace: Trace) -> Array:
        return trace.at(*first) + sign * trace.at(*second)

    return value


def _resident(part: str) -> Gauge:
    def value(trace: Trace) -> Array:
        import numpy as np

        found = trace.at(part, "rss")  # of one that has ended: 0
        return np.where(found > 0, found, np.nan)

    return value


RATES: Mapping[str, Figure] = {
    "host_cpu_user_pct": _cpu("user", "nice"),  # /proc/stat counts guests as user, as vmstat does
    "host_cpu_system_pct": _cpu("system", "irq", "softirq"),
    "host_cpu_idle_pct": _cpu("idle"),
    "host_cpu_iowait_pct": _cpu("iowait"),
    "host_cpu_steal_pct": _cpu("steal"),
    "process_cores": _busy("process"),
    "server_cores": _busy("server"),
    "context_switches_per_s": _rate("switches"),
    "interrupts_per_s": _rate("interrupts"),
    "host_read_mb_per_s": _rate("paging", "read", scale=BYTE_MB),
    "host_write_mb_per_s": _rate("paging", "written", scale=BYTE_MB),
    "swap_in_mb_per_s": _rate("paging", "swapped_in", scale=BYTE_MB),
    "swap_out_mb_per_s": _rate("paging", "swapped_out", scale=BYTE_MB),
    "device_reads_per_s": _rate(DEVICE, "reads"),
    "device_read_mb_per_s": _rate(DEVICE, "read_sectors", scale=SECTOR_MB),
    "device_read_merges_per_s": _rate(DEVICE, "read_merges"),
    "device_writes_per_s": _rate(DEVICE, "writes"),
    "device_write_mb_per_s": _rate(DEVICE, "write_sectors", scale=SECTOR_MB),
    "device_write_merges_per_s": _rate(DEVICE, "write_merges"),
    "device_discards_per_s": _rate(DEVICE, "discards"),
    "device_discard_mb_per_s": _rate(DEVICE, "discard_sectors", scale=SECTOR_MB),
    "device_flushes_per_s": _rate(DEVICE, "flushes"),
    "device_queue": _rate(DEVICE, "queue_ms", scale=0.001),
    "device_busy_pct": _rate(DEVICE, "busy_ms", scale=0.1),
    "pressure_cpu_pct": _rate("pressure", "cpu", scale=1e-4),
    "pressure_io_pct": _rate("pressure", "io", scale=1e-4),
    "pressure_memory_pct": _rate("pressure", "memory", scale=1e-4),
}
RATIOS: Mapping[str, Figure] = {
    "device_read_await_ms": _per_request("read_ms", "reads"),
    "device_read_request_kb": _per_request("read_sectors", "reads", SECTOR_KB),
    "device_write_await_ms": _per_request("write_ms", "writes"),
    "device_write_request_kb": _per_request("write_sectors", "writes", SECTOR_KB),
    "device_discard_await_ms": _per_request("discard_ms", "discards"),
    "device_flush_await_ms": _per_request("flush_ms", "flushes"),
}
GAUGES: Mapping[str, Gauge] = {
    "run_queue": _gauge("running", less=1.0),  # the one that looks runs as well
    "blocked_tasks": _gauge("blocked"),
    "memory_free_bytes": _gauge("memory", "free"),
    "memory_available_bytes": _gauge("memory", "available"),
    "memory_buffer_bytes": _gauge("memory", "buffers"),
    "memory_cache_bytes": _sum(("memory", "cached"), 1, ("memory", "reclaimable")),
    "memory_dirty_bytes": _gauge("memory", "dirty"),
    "swap_used_bytes": _sum(("memory", "swap"), -1, ("memory", "swap_free")),
    "cpu_mhz": _gauge("sensors", "mhz"),
}
AT_THE_END: Mapping[str, Gauge] = {  # of an interval; over a step they are no means
    "cpu_celsius": _gauge("sensors", "celsius"),
    "database_bytes": _gauge("database_bytes"),
    "process_rss_bytes": _resident("process"),
    "server_rss_bytes": _resident("server"),
}
PER_SECOND = (*RATES, *RATIOS, *GAUGES, *AT_THE_END)  # what `samples` has
