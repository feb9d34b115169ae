"""What a series says beside its mean: how much its seconds vary, stand still, and whether they become steady."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from stepgrid.collect.figures.steady_state import steady

Points = Sequence[tuple[float, float]]  # (second, operations per second)
FEWEST = 5  # of fewer points nothing is said
NOT_STEADY = "no steady state"


def figures(points: Points) -> dict[str, float]:
    """By name of plugins.metrics.METRICS."""
    rates = [rate for _, rate in points]
    if len(rates) < FEWEST or not math.fsum(rates) > 0:
        return {}
    return {**_variance(rates), **_steady(points)}


def warnings(points: Points) -> Iterator[str]:
    found = steady([rate for _, rate in points])
    if found and not found.holds:
        yield f"{NOT_STEADY}: QPS still {'falls' if found.change < 0 else 'rises'} when the run ends"


def _variance(rates: Sequence[float]) -> dict[str, float]:
    import numpy as np

    values, count = np.sort(np.asarray(rates, dtype=float)), len(rates)
    mean = math.fsum(rates) / count
    off = values - mean
    median = float(values[(count - 1) // 2] + values[count // 2]) / 2
    below_half, below_tenth = (int(values.searchsorted(median / part)) for part in (2, 10))
    return {
        "qps_variation_pct": 100 * math.sqrt(float(off @ off) / (count - 1)) / mean,
        "slow_seconds_pct": 100 * below_half / count,
        "stalled_seconds_pct": 100 * below_tenth / count,
        "worst_qps_p99": float(values[math.ceil(count / 100) - 1]),
    }


def _steady(points: Points) -> dict[str, float]:
    found = steady([rate for _, rate in points])
    if found is None:
        return {}
    change = {"steady_change_pct": 100 * found.change}
    if not found.holds:
        return change
    return {**change, "steady_from_s": _second(points, found.start), "steady_qps": found.mean}


def _second(points: Points, index: int) -> float:
    """When the interval of a point began: its time is that of the end."""
    return points[index - 1][0] if index else 0.0
