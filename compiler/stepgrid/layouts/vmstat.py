"""Averages of vmstat over a step: context switches, and where the time of the cores went."""

from __future__ import annotations

from functools import partial

from stepgrid.layouts.shared import averages
from stepgrid.plugins.layout import Layout

FIGURES: averages.Figures = {
    "cs": (("context_switches_per_s",), 0),
    "us": (("host_cpu_user_pct",), 1),
    "sy": (("host_cpu_system_pct",), 1),
    "us+sy": (("host_cpu_user_pct", "host_cpu_system_pct"), 1),
    "id": (("host_cpu_idle_pct",), 1),
    "wa": (("host_cpu_iowait_pct",), 1),
}
LEGEND = ("cs: context switches/s; us, sy, id, wa: % of the time of all cores",)

LAYOUT = Layout(
    "vmstat averages",
    partial(averages.tables, figures=FIGURES, name="version", legend=LEGEND),
    metrics=averages.metrics(FIGURES),
)
