"""Averages of iostat over a step, of the database's device."""

from __future__ import annotations

from functools import partial

from stepgrid.layouts.shared import averages
from stepgrid.plugins.layout import Layout

FIGURES: averages.Figures = {
    "rps": (("device_reads_per_s",), 0),
    "rMBps": (("device_read_mb_per_s",), 1),
    "rawait": (("device_read_await_ms",), 2),
    "rareqsz": (("device_read_request_kb",), 1),
    "wps": (("device_writes_per_s",), 0),
    "wMBps": (("device_write_mb_per_s",), 1),
    "wawait": (("device_write_await_ms",), 2),
    "wareqsz": (("device_write_request_kb",), 1),
}
LEGEND = (
    "rps, wps: requests/s; rMBps, wMBps: MiB/s; rawait, wawait: ms; rareqsz, wareqsz: KiB a request",
    "waits and sizes: means of the seconds' own ratios; -: the step made no such requests",
)

LAYOUT = Layout(
    "iostat averages",
    partial(averages.tables, figures=FIGURES, name="name", legend=LEGEND),
    metrics=averages.metrics(FIGURES),
)
