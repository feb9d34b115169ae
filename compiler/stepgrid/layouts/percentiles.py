"""Response times by percentile, in microseconds."""

from __future__ import annotations

from functools import partial

from stepgrid.layouts.shared import averages
from stepgrid.plugins.layout import Layout

FIGURES: averages.Figures = {
    "p50": (("p50_us",), 1),
    "p99": (("p99_us",), 0),
    "p99.9": (("p99_9_us",), 0),
    "p99.99": (("p99_99_us",), 0),
    "pmax": (("max_us",), 0),
}

LAYOUT = Layout(
    "response time",
    partial(averages.tables, figures=FIGURES, name="version", legend=("microseconds",)),
    metrics=averages.metrics(FIGURES),
)
