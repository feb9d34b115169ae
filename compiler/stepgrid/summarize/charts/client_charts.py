"""Charts of what each client did over time, with the seconds in which one stood still."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Any, NamedTuple

from stepgrid.summarize.charts import step_charts, vega
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.charts.svg import Draw, svg
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.data.client_rates import ClientLine
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.data.parquet_reader import Run
from stepgrid.summarize.report import Report, Section

DRAWN: Mapping[str, str] = {
    "insert": "rows inserted per second",
    "query": "queries per second",
}  # deletes follow inserts
TARGETS: Mapping[str, str] = {"insert": "target_inserts_per_s"}  # of all clients
POINTS = 1500  # of a chart: lines of longer runs, or of many clients, are means of several seconds


@dataclass(frozen=True, slots=True)
class _Arm:
    name: str
    run: Run  # the first that has rates
    lines: Sequence[ClientLine]


class Multiples(NamedTuple):
    """Charts of an operation, one for each arm."""

    title: str
    pictures: Sequence[Picture]
    targets: bool  # some have a line for the rate that was asked for


def multiples(report: Report, section: Section, draw: Draw) -> list[Multiples]:
    """Of several loads the first."""
    found = [_of(report, section, operation, draw) for operation in DRAWN]
    return [each for each in found if each.pictures]


def _of(report: Report, section: Section, operation: str, draw: Draw) -> Multiples:
    arms = list(_arms(report, section, operation))
    every = [line for arm in arms for line in arm.lines]
    if max((len(line.seconds) for line in every), default=0) < step_charts.FEWEST:
        return Multiples(DRAWN[operation], [], targets=False)
    limits = max(max(line.seconds) for line in every), max(max(line.rates) for line in every)
    drawn = [_picture(section, operation, arm, limits, draw) for arm in arms]
    return Multiples(DRAWN[operation], drawn, any(_target(arm, operation) is not None for arm in arms))


def _arms(report: Report, section: Section, operation: str) -> Iterator[_Arm]:
    points = {point.places: point for point in section.points}.values()
    known = [(point, run) for point in points if (run := _first(report, point, operation))]
    for point, run in step_charts.spread(known, step_charts.most(report)):
        name = comparison_axes.words(comparison_axes.key(point, section.names), section.names) or section.step
        yield _Arm(name, run, report.client_rates.lines(run.place, operation))


def _first(report: Report, point: Point, operation: str) -> Run | None:
    return next((run for run in point.runs if operation in report.client_rates.get(run.place, ())), None)


def _picture(section: Section, operation: str, arm: _Arm, limits: tuple[float, float], draw: Draw) -> Picture:
    names = [str(line.client) for line in arm.lines]
    chart = vega.by_client(
        list(_rows(arm.lines)), _stalls(arm.lines, limits[0]), names, limits, _target(arm, operation)
    )
    said = f"{section.step}, {arm.name}: {DRAWN[operation]} of each client over time"
    return Picture(arm.name, svg(chart, step_charts.element_id(said), said, draw))


def _stalls(lines: Sequence[ClientLine], seconds: float) -> list[float]:
    """Of all clients; one for each point of the screen at most."""
    every = sorted({second for line in lines for second in line.stalls}, reverse=True)
    return sorted({round(second * vega.WIDTH / seconds): second for second in every}.values())


def _target(arm: _Arm, operation: str) -> float | None:
    """Of each client."""
    target = arm.run.metrics.get(TARGETS.get(operation, ""))
    return None if target is None else target / len(arm.lines)


def _rows(lines: Sequence[ClientLine]) -> Iterator[dict[str, Any]]:
    together = -(-sum(len(line.seconds) for line in lines) // POINTS)
    for line in lines:
        for _, part in groupby(enumerate(line.whole), lambda each: each[0] // together):
            found = [pair for _, pair in part]
            yield {"second": found[-1][0], "rate": fmean(rate for _, rate in found), "client": str(line.client)}
