"""Metrics of steps that wait until the engine is quiet."""

from __future__ import annotations

from stepgrid.drivers.quiesce.amounts import AMOUNTS, END, START
from stepgrid.model.metrics.metric import Metric

_WINDOWS = {
    START: "at the first look, before anything was asked for",
    END: "at the last look",
}

QUIET = (
    Metric(
        "quiesce_seconds",
        "s",
        "lower",
        "Time until everything was idle, without the stretch in which it had to stay so. Absent when it did not become "
        "quiet in time.",
        "from the first look",
    ),
    *(
        Metric(amount.metric(when), amount.unit, None, f"{amount.what}.", window)
        for amount in AMOUNTS.values()
        for when, window in _WINDOWS.items()
    ),
)
