"""Metrics of a step's series: what its clients did in each second, or in each interval that they print."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric

SERIES = "the step's series of QPS, of 5 points or more"
STEADY = "the step's series of QPS, of 60 points or more"

VARIANCE = (
    Metric("qps_variation_pct", "%", "lower",
           "Standard deviation of the seconds' QPS, of their mean: the coefficient of variation.", SERIES),
    Metric("slow_seconds_pct", "%", "lower", "Share of the seconds with less than half of the median QPS.", SERIES),
    Metric("stalled_seconds_pct", "%", "lower",
           "Share of the seconds with less than a tenth of the median QPS: all but a standstill.", SERIES),
    Metric("worst_qps_p99", "operations/s", "higher",
           "QPS that 99 % of the seconds reach: a rate, not a latency. The insert benchmark calls it p99.", SERIES),
    Metric("steady_from_s", "s", "lower",
           "When the steady part begins, since the step's start: of the starts within the first half, the one whose "
           "mean is known best (MSER-5). Absent where there is no steady state.", STEADY),
    Metric("steady_qps", "operations/s", "higher", "Mean QPS from steady_from_s on.", STEADY),
    Metric("steady_change_pct", "%", None,
           "By how much QPS changes after that start, along a straight line. More than 5 % either way, and clearer "
           "than chance (1 %), is no steady state.", STEADY),
)  # fmt: skip
