"""Metrics of the device that the database is on."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import MEASURED

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
