"""Arms that failed the rate that their clients were asked for: their queries had less to do beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stepgrid.collect.figures.rate_targets import TARGET
from stepgrid.model.number_format import rate
from stepgrid.model.rate_target import met
from stepgrid.plugins.metrics import unit
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.data.measurements import Point

MOST = 4  # that are named of a step
Section = tuple[str, Sequence[str], Sequence[Point]]  # step, the axes that vary, points


def sentences(sections: Iterable[Section]) -> Iterator[str]:
    """A sentence for each step; medians over the loads."""
    for step, names, points in sections:
        failed = [f"{_arm(point, names)}{said}" for point in points if (said := _failed(point))]
        if failed:
            more = f", and {len(failed) - MOST} more" if len(failed) > MOST else ""
            yield f"{step}: less than 95 % of the rate that was asked for: {', '.join(failed[:MOST])}{more}"


def _arm(point: Point, names: Sequence[str]) -> str:
    found = comparison_axes.words(comparison_axes.key(point, names), names)
    return f"{found}: " if found else ""


def _failed(point: Point) -> str:
    targets = dict.fromkeys(name for run in point.runs for name in run.metrics if name.startswith(TARGET))
    for name, metric in ((name, name.removeprefix(TARGET)) for name in targets):
        asked, kept = point.spread(name), point.spread(metric)
        if asked and kept and not met(kept[0], asked[0]):
            return f"{rate(kept[0])} of {rate(asked[0])} {unit(metric)}"
    return ""
