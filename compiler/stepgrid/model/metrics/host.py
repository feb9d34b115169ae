"""Metrics of the whole host while a step ran."""

from __future__ import annotations

from stepgrid.model.metrics.metric import MEASURED, SAMPLES, STEP, Metric

HOST = (
    Metric("host_cpu_user_pct", "%", None, "User time (us of vmstat, nice included) of all cores' time.", MEASURED),
    Metric("host_cpu_system_pct", "%", None,
           "System time (sy of vmstat, interrupts included) of all cores' time.", MEASURED),
    Metric("host_cpu_busy_pct", "%", None,
           "User and system time together: of published results that do not tell them apart.", MEASURED),
    Metric("host_cpu_idle_pct", "%", None, "Idle time (id of vmstat) of all cores' time.", MEASURED),
    Metric(
        "host_cpu_iowait_pct", "%", None, "Time idle with IO under way (wa of vmstat) of all cores' time.", MEASURED
    ),
    Metric(
        "host_cpu_steal_pct", "%", "lower", "Time that a hypervisor took (st of vmstat) of all cores' time.", MEASURED
    ),
    Metric("context_switches_per_s", "switches/s", None, "Context switches of the host (cs of vmstat).", MEASURED),
    Metric("interrupts_per_s", "interrupts/s", None, "Interrupts of the host (in of vmstat).", MEASURED),
    Metric("run_queue", "tasks", None,
           "Tasks that run or wait for a core (r of vmstat), without the one that looks.", SAMPLES),
    Metric("blocked_tasks", "tasks", "lower", "Tasks that wait for IO uninterruptibly (b of vmstat).", SAMPLES),
    Metric("host_read_mb_per_s", "MiB/s", None, "What all block devices read (bi of vmstat).", MEASURED),
    Metric("host_write_mb_per_s", "MiB/s", None, "What all block devices wrote (bo of vmstat).", MEASURED),
    Metric("pressure_cpu_pct", "%", "lower", "Time in which some task waited for a core (pressure, some).", MEASURED),
    Metric("pressure_io_pct", "%", "lower", "Time in which some task waited for IO (pressure, some).", MEASURED),
    Metric(
        "pressure_memory_pct", "%", "lower", "Time in which some task waited for memory (pressure, some).", MEASURED
    ),
)  # fmt: skip


# Metrics of the device that the database is on.

_RATIO = "mean of the seconds' own ratios, as iostat's average has it; a second without requests has none"
DEVICE = (
    Metric("device_reads_per_s", "requests/s", None, "Reads that the database's device completed (r/s).", MEASURED),
    Metric("device_read_mb_per_s", "MiB/s", None, "What the device read (rMB/s).", MEASURED),
    Metric("device_read_await_ms", "ms", "lower", f"Time of a read, queueing included (r_await); {_RATIO}.", MEASURED),
    Metric("device_read_request_kb", "KiB", None, f"Size of a read (rareq-sz); {_RATIO}.", MEASURED),
    Metric("device_writes_per_s", "requests/s", None, "Writes that the database's device completed (w/s).", MEASURED),
    Metric("device_write_mb_per_s", "MiB/s", None, "What the device wrote (wMB/s).", MEASURED),
    Metric(
        "device_write_await_ms", "ms", "lower", f"Time of a write, queueing included (w_await); {_RATIO}.", MEASURED
    ),
    Metric("device_write_request_kb", "KiB", None, f"Size of a write (wareq-sz); {_RATIO}.", MEASURED),
    Metric("device_queue", "requests", None, "Requests in the device's queue, on average (aqu-sz).", MEASURED),
    Metric("device_busy_pct", "%", None, "Time in which the device had requests (%util).", MEASURED),
    Metric("device_read_merges_per_s", "requests/s", None, "Reads that were merged into others (rrqm/s).", MEASURED),
    Metric("device_write_merges_per_s", "requests/s", None, "Writes that were merged into others (wrqm/s).", MEASURED),
    Metric("device_discards_per_s", "requests/s", None, "Discards that the device completed (d/s).", MEASURED),
    Metric("device_discard_mb_per_s", "MiB/s", None, "What was discarded (dMB/s).", MEASURED),
    Metric("device_discard_await_ms", "ms", "lower", f"Time of a discard (d_await); {_RATIO}.", MEASURED),
    Metric("device_flushes_per_s", "requests/s", None, "Flushes that the device completed (f/s).", MEASURED),
    Metric("device_flush_await_ms", "ms", "lower", f"Time of a flush (f_await); {_RATIO}.", MEASURED),
)


# Metrics of memory, swap and sensors while a step ran.

MEMORY = (
    Metric("memory_free_bytes", "B", None, "Unused memory (free of vmstat).", SAMPLES),
    Metric("memory_available_bytes", "B", None, "Memory that programs can have without swapping.", SAMPLES),
    Metric("memory_buffer_bytes", "B", None, "Memory of buffers (buff of vmstat).", SAMPLES),
    Metric("memory_cache_bytes", "B", None,
           "Page cache and what the kernel can reclaim of its own (cache of vmstat).", SAMPLES),
    Metric("memory_dirty_bytes", "B", None, "What is to be written to devices some day.", SAMPLES),
    Metric("swap_used_bytes", "B", "lower", "Swap in use (swpd of vmstat).", SAMPLES),
    Metric("swap_in_mb_per_s", "MiB/s", "lower", "What came back from swap (si of vmstat).", MEASURED),
    Metric("swap_out_mb_per_s", "MiB/s", "lower", "What went to swap (so of vmstat).", MEASURED),
    Metric("cpu_mhz", "MHz", None, "Frequency of the processors, the mean of all, every 5 seconds.", SAMPLES),
    Metric("cpu_celsius_max", "degrees Celsius", "lower",
           "Highest temperature of the processors, as looked at every 5 seconds.", STEP),
    Metric("cpu_celsius", "degrees Celsius", "lower", "Temperature of the hottest processor; per second only.", STEP),
    Metric("cpu_throttles", "count", "lower", "How often a core or a package was slowed because it was hot.", STEP),
)  # fmt: skip
