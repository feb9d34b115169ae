"""Clients that did not reach the rate that they were asked for: beside their queries they had less to do."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.collect.step_figures import TARGET
from stepgrid.model.figures import is_sustained
from stepgrid.model.units import rate
from stepgrid.plugins.metrics import unit
from stepgrid.summarize.data.points import Point


def marks(point: Point, base: Point) -> Iterator[str]:
    """Beside a ratio."""
    for whose, each in (("", point), (" of the base", base)):
        if said := missed(each):
            yield f"rate missed{whose}: {said}"


def missed(point: Point) -> str:
    """1,113 of 2,000 rows/s: medians of the loads; nothing where the rate was reached."""
    targets = dict.fromkeys(name for run in point.runs for name in run.metrics if name.startswith(TARGET))
    for name, metric in ((name, name.removeprefix(TARGET)) for name in targets):
        asked, kept = point.spread(name), point.spread(metric)
        if asked and kept and not is_sustained(kept[0], asked[0]):
            return f"{rate(kept[0])} of {rate(asked[0])} {unit(metric)}"
    return ""
