"""Metrics of the whole host while a step ran."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import MEASURED, SAMPLES

HOST = (
    Metric("host_cpu_user_pct", "%", None, "User time (us of vmstat, nice included) of all cores' time.", MEASURED),
    Metric(
        "host_cpu_system_pct",
        "%",
        None,
        "System time (sy of vmstat, interrupts included) of all cores' time.",
        MEASURED,
    ),
    Metric(
        "host_cpu_busy_pct",
        "%",
        None,
        "User and system time together: of published results that do not tell them apart.",
        MEASURED,
    ),
    Metric("host_cpu_idle_pct", "%", None, "Idle time (id of vmstat) of all cores' time.", MEASURED),
    Metric(
        "host_cpu_iowait_pct", "%", None, "Time idle with IO under way (wa of vmstat) of all cores' time.", MEASURED
    ),
    Metric(
        "host_cpu_steal_pct", "%", "lower", "Time that a hypervisor took (st of vmstat) of all cores' time.", MEASURED
    ),
    Metric("context_switches_per_s", "switches/s", None, "Context switches of the host (cs of vmstat).", MEASURED),
    Metric("interrupts_per_s", "interrupts/s", None, "Interrupts of the host (in of vmstat).", MEASURED),
    Metric(
        "run_queue",
        "tasks",
        None,
        "Tasks that run or wait for a core (r of vmstat), without the one that looks.",
        SAMPLES,
    ),
    Metric("blocked_tasks", "tasks", "lower", "Tasks that wait for IO uninterruptibly (b of vmstat).", SAMPLES),
    Metric("host_read_mb_per_s", "MiB/s", None, "What all block devices read (bi of vmstat).", MEASURED),
    Metric("host_write_mb_per_s", "MiB/s", None, "What all block devices wrote (bo of vmstat).", MEASURED),
    Metric("pressure_cpu_pct", "%", "lower", "Time in which some task waited for a core (pressure, some).", MEASURED),
    Metric("pressure_io_pct", "%", "lower", "Time in which some task waited for IO (pressure, some).", MEASURED),
    Metric(
        "pressure_memory_pct", "%", "lower", "Time in which some task waited for memory (pressure, some).", MEASURED
    ),
)
