"""Metrics of what a step used of its processes, of the host and of its device, and of what collectors count."""

from __future__ import annotations

from compiler.collect.metric import STEP, Metric

END = "at the end of the step"
SAMPLES = "mean of the step's samples"

PROCESSES = (
    Metric(
        "cpu_seconds",
        "s",
        None,
        "User and system time of the step's processes; with a server, of client and server together.",
        STEP,
    ),
    Metric("client_cpu_seconds", "s", None, "The client's part of cpu_seconds, where there is a server.", STEP),
    Metric(
        "server_cpu_seconds",
        "s",
        None,
        "The server's part of cpu_seconds: all processes that it started, from the first sample to the last.",
        STEP,
    ),
    Metric(
        "cpu_us_per_op",
        "us/operation",
        "lower",
        "cpu_seconds / operations, background work and a background writer included. Absent where the step also ran "
        "another benchmark that counts operations: the time of both is not to be told apart.",
        STEP,
    ),
    Metric("client_cpu_us_per_op", "us/operation", "lower", "client_cpu_seconds / operations.", STEP),
    Metric("server_cpu_us_per_op", "us/operation", "lower", "server_cpu_seconds / operations.", STEP),
    Metric("process_cores", "cores", None, "Cores that the step's processes kept busy, as sampled.", STEP),
    Metric("server_cores", "cores", None, "Cores that the server's processes kept busy, as sampled.", STEP),
    Metric(
        "process_rss_bytes",
        "B",
        None,
        "Highest resident memory of the step's processes, as sampled once a second. Absent in a step that is over "
        "before the second sample.",
        STEP,
        "rss",
    ),
    Metric(
        "process_max_rss_bytes",
        "B",
        None,
        "Highest resident memory of the step's largest process, as the kernel noted it; never below the tens of MiB of "
        "the runner that started it.",
        STEP,
    ),
    Metric("process_read_bytes", "B", None, "Bytes that the step's processes caused to be read from devices.", STEP),
    Metric("process_write_bytes", "B", None, "Bytes that the step's processes caused to be written to devices.", STEP),
    Metric(
        "server_rss_bytes",
        "B",
        None,
        "Highest resident memory of the server's processes, as sampled; memory that several of them share counts in "
        "each.",
        STEP,
    ),
    Metric("server_read_bytes", "B", None, "Bytes that the server caused to be read from devices.", STEP),
    Metric("server_write_bytes", "B", None, "Bytes that the server caused to be written to devices.", STEP),
    Metric("database_bytes", "B", None, "Size of the files in the database's folder.", END),
)

HOST = (
    Metric("host_cpu_user_pct", "%", None, "User time (us of vmstat, nice included) of all cores' time.", STEP),
    Metric(
        "host_cpu_system_pct", "%", None, "System time (sy of vmstat, interrupts included) of all cores' time.", STEP
    ),
    Metric("host_cpu_idle_pct", "%", None, "Idle time (id of vmstat) of all cores' time.", STEP),
    Metric("host_cpu_iowait_pct", "%", None, "Time idle with IO under way (wa of vmstat) of all cores' time.", STEP),
    Metric("host_cpu_steal_pct", "%", "lower", "Time that a hypervisor took (st of vmstat) of all cores' time.", STEP),
    Metric("context_switches_per_s", "switches/s", None, "Context switches of the host (cs of vmstat).", STEP),
    Metric(
        "context_switches_per_op",
        "switches/operation",
        "lower",
        "Context switches of the host / operations; absent where cpu_us_per_op is.",
        STEP,
    ),
    Metric("interrupts_per_s", "interrupts/s", None, "Interrupts of the host (in of vmstat).", STEP),
    Metric(
        "run_queue",
        "tasks",
        None,
        "Tasks that run or wait for a core (r of vmstat), without the one that looks.",
        SAMPLES,
    ),
    Metric("blocked_tasks", "tasks", "lower", "Tasks that wait for IO uninterruptibly (b of vmstat).", SAMPLES),
    Metric("host_read_mb_per_s", "MiB/s", None, "What all block devices read (bi of vmstat).", STEP),
    Metric("host_write_mb_per_s", "MiB/s", None, "What all block devices wrote (bo of vmstat).", STEP),
    Metric("pressure_cpu_pct", "%", "lower", "Time in which some task waited for a core (pressure, some).", STEP),
    Metric("pressure_io_pct", "%", "lower", "Time in which some task waited for IO (pressure, some).", STEP),
    Metric("pressure_memory_pct", "%", "lower", "Time in which some task waited for memory (pressure, some).", STEP),
)

MEMORY = (
    Metric("memory_free_bytes", "B", None, "Unused memory (free of vmstat).", SAMPLES),
    Metric("memory_available_bytes", "B", None, "Memory that programs can have without swapping.", SAMPLES),
    Metric("memory_buffer_bytes", "B", None, "Memory of buffers (buff of vmstat).", SAMPLES),
    Metric(
        "memory_cache_bytes",
        "B",
        None,
        "Page cache and what the kernel can reclaim of its own (cache of vmstat).",
        SAMPLES,
    ),
    Metric("memory_dirty_bytes", "B", None, "What is to be written to devices some day.", SAMPLES),
    Metric("swap_used_bytes", "B", "lower", "Swap in use (swpd of vmstat).", SAMPLES),
    Metric("swap_in_mb_per_s", "MiB/s", "lower", "What came back from swap (si of vmstat).", STEP),
    Metric("swap_out_mb_per_s", "MiB/s", "lower", "What went to swap (so of vmstat).", STEP),
    Metric("cpu_mhz", "MHz", None, "Frequency of the processors, the mean of all, every 5 seconds.", SAMPLES),
    Metric(
        "cpu_celsius_max",
        "degrees Celsius",
        "lower",
        "Highest temperature of the processors, as looked at every 5 seconds.",
        STEP,
    ),
    Metric("cpu_celsius", "degrees Celsius", "lower", "Temperature of the hottest processor; per second only.", STEP),
    Metric("cpu_throttles", "count", "lower", "How often a core or a package was slowed because it was hot.", STEP),
)

_RATIO = "mean of the seconds' own ratios, as iostat's average has it; a second without requests has none"
DEVICE = (
    Metric("device_reads_per_s", "requests/s", None, "Reads that the database's device completed (r/s).", STEP),
    Metric("device_read_mb_per_s", "MiB/s", None, "What the device read (rMB/s).", STEP),
    Metric("device_read_await_ms", "ms", "lower", f"Time of a read, queueing included (r_await); {_RATIO}.", STEP),
    Metric("device_read_request_kb", "KiB", None, f"Size of a read (rareq-sz); {_RATIO}.", STEP),
    Metric("device_writes_per_s", "requests/s", None, "Writes that the database's device completed (w/s).", STEP),
    Metric("device_write_mb_per_s", "MiB/s", None, "What the device wrote (wMB/s).", STEP),
    Metric("device_write_await_ms", "ms", "lower", f"Time of a write, queueing included (w_await); {_RATIO}.", STEP),
    Metric("device_write_request_kb", "KiB", None, f"Size of a write (wareq-sz); {_RATIO}.", STEP),
    Metric("device_queue", "requests", None, "Requests in the device's queue, on average (aqu-sz).", STEP),
    Metric("device_busy_pct", "%", None, "Time in which the device had requests (%util).", STEP),
    Metric("device_read_merges_per_s", "requests/s", None, "Reads that were merged into others (rrqm/s).", STEP),
    Metric("device_write_merges_per_s", "requests/s", None, "Writes that were merged into others (wrqm/s).", STEP),
    Metric("device_discards_per_s", "requests/s", None, "Discards that the device completed (d/s).", STEP),
    Metric("device_discard_mb_per_s", "MiB/s", None, "What was discarded (dMB/s).", STEP),
    Metric("device_discard_await_ms", "ms", "lower", f"Time of a discard (d_await); {_RATIO}.", STEP),
    Metric("device_flushes_per_s", "requests/s", None, "Flushes that the device completed (f/s).", STEP),
    Metric("device_flush_await_ms", "ms", "lower", f"Time of a flush (f_await); {_RATIO}.", STEP),
)

_COUNTED = "as the collector perf_stat counted it for the step's engine, while it was attached"
COLLECTED = (
    Metric("perf_instructions", "instructions", None, f"Instructions, {_COUNTED}.", STEP),
    Metric("perf_cycles", "cycles", None, f"Cycles, {_COUNTED}.", STEP),
    Metric("perf_instructions_per_cycle", "ratio", "higher", "perf_instructions / perf_cycles.", STEP),
    Metric("perf_branches", "branches", None, f"Branches, {_COUNTED}.", STEP),
    Metric("perf_branch_misses", "branches", "lower", f"Mispredicted branches, {_COUNTED}.", STEP),
    Metric("perf_cache_references", "accesses", None, f"Accesses to the last cache, {_COUNTED}.", STEP),
    Metric("perf_cache_misses", "accesses", "lower", f"Those that it did not have, {_COUNTED}.", STEP),
    Metric("perf_task_clock_ms", "ms", None, f"CPU time, {_COUNTED}.", STEP),
    Metric("perf_context_switches", "switches", None, f"Context switches, {_COUNTED}.", STEP),
    Metric("perf_cpu_migrations", "moves", None, f"Moves from one core to another, {_COUNTED}.", STEP),
    Metric("perf_page_faults", "faults", None, f"Page faults, {_COUNTED}.", STEP),
)
