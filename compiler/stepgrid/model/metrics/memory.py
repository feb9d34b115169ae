"""Metrics of memory, swap and sensors while a step ran."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import MEASURED, SAMPLES, STEP

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
    Metric("swap_in_mb_per_s", "MiB/s", "lower", "What came back from swap (si of vmstat).", MEASURED),
    Metric("swap_out_mb_per_s", "MiB/s", "lower", "What went to swap (so of vmstat).", MEASURED),
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
