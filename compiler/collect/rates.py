"""What two samples say of the time between them: counters to rates, by the definitions of iostat and vmstat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

SECTOR_KB = 0.5
SECTOR_MB = 512 / 1048576
BYTE_MB = 1 / 1048576
Sample = Mapping[str, Any]
Figure = Callable[[Sample, Sample], "float | None"]
Gauge = Callable[[Sample], "float | None"]


def seconds(before: Sample, after: Sample) -> float:
    return float(after["monotonic"] - before["monotonic"])


def delta(before: Sample, after: Sample, *keys: str) -> float | None:
    """How far a counter went; None where either sample lacks it, or it went back (a device that was replaced)."""
    low, high = at(before, *keys), at(after, *keys)
    return None if low is None or high is None or high < low else high - low


def at(sample: Sample, *keys: str) -> float | None:
    value: Any = sample
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def _device(before: Sample, after: Sample, counter: str) -> float | None:
    name = after.get("device")
    return None if name is None else delta(before, after, "devices", name, counter)


def _cpu(*kinds: str) -> Figure:
    def share(before: Sample, after: Sample) -> float | None:
        passed = {kind: delta(before, after, "cpu", kind) for kind in after.get("cpu", {})}
        total = sum(value or 0.0 for value in passed.values())
        parts = [value for kind in kinds if (value := passed.get(kind)) is not None]
        return 100.0 * sum(parts) / total if total > 0 and parts else None

    return share


def _rate(*keys: str, scale: float = 1.0) -> Figure:
    def rate(before: Sample, after: Sample) -> float | None:
        passed = delta(before, after, *keys)
        return None if passed is None else passed * scale / seconds(before, after)

    return rate


def _device_rate(counter: str, scale: float = 1.0) -> Figure:
    def rate(before: Sample, after: Sample) -> float | None:
        passed = _device(before, after, counter)
        return None if passed is None else passed * scale / seconds(before, after)

    return rate


def _per_request(counter: str, requests: str, scale: float = 1.0) -> Figure:
    def ratio(before: Sample, after: Sample) -> float | None:
        amount, count = _device(before, after, counter), _device(before, after, requests)
        return amount * scale / count if amount is not None and count else None

    return ratio


def _busy(group: str) -> Figure:
    """Cores that a group of processes kept busy, on average."""

    def cores(before: Sample, after: Sample) -> float | None:
        user, system = (delta(before, after, group, mode) for mode in ("user", "system"))
        return None if user is None or system is None else (user + system) / seconds(before, after)

    return cores


def _gauge(*keys: str, less: float = 0.0) -> Gauge:
    def value(sample: Sample) -> float | None:
        found = at(sample, *keys)
        return None if found is None else max(found - less, 0.0)

    return value


def _sum(first: tuple[str, str], sign: int, second: tuple[str, str]) -> Gauge:
    def value(sample: Sample) -> float | None:
        one, other = at(sample, *first), at(sample, *second)
        return None if one is None or other is None else one + sign * other

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
    "device_reads_per_s": _device_rate("reads"),
    "device_read_mb_per_s": _device_rate("read_sectors", SECTOR_MB),
    "device_read_merges_per_s": _device_rate("read_merges"),
    "device_writes_per_s": _device_rate("writes"),
    "device_write_mb_per_s": _device_rate("write_sectors", SECTOR_MB),
    "device_write_merges_per_s": _device_rate("write_merges"),
    "device_discards_per_s": _device_rate("discards"),
    "device_discard_mb_per_s": _device_rate("discard_sectors", SECTOR_MB),
    "device_flushes_per_s": _device_rate("flushes"),
    "device_queue": _device_rate("queue_ms", 0.001),
    "device_busy_pct": _device_rate("busy_ms", 0.1),
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
