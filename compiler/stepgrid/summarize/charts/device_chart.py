"""QPS over time above what the device did in the same seconds, with the seconds in which clients stood still."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from stepgrid.collect.series import mark_stalls
from stepgrid.summarize.charts import drawing, step_charts
from stepgrid.summarize.charts.drawing import Scale
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.charts.vega import STALL
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.data.device_seconds import DeviceSecond
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.data.parquet_reader import Run
from stepgrid.summarize.report import Report, Section

MOST = 48  # charts of a page, shared by its steps; each step has one
POINTS = 120  # of a line: those of longer runs are means of several seconds
WIDTH, LEFT, TOP, GAP, TICK = 330.0, 52.0, 24.0, 22.0, 7.0
HEIGHTS = {"QPS": 80.0, "MiB/s": 55.0, "busy %": 40.0}
READ, WRITTEN = "read", "written"


@dataclass(frozen=True, slots=True)
class _Arm:
    name: str
    qps: Sequence[tuple[float, float]]
    device: Sequence[DeviceSecond]


def pictures(report: Report, section: Section) -> list[Picture]:
    """Of the first load of each arm, or of some."""
    found = []
    for arm in _arms(report, section):
        said = f"{section.step}, {arm.name}: QPS, stalls and the device over time"
        found.append(Picture(arm.name, _drawn(said, arm)))
    return found


def _arms(report: Report, section: Section) -> Iterator[_Arm]:
    points = {point.places: point for point in section.points}.values()
    known = [(point, run) for point in points if (run := _first(report, point))]
    wanted = step_charts.spread(known, max(1, MOST // max(len(report.sections), 1)))
    device = report.device.of([run.place for _, run in wanted])
    for point, run in wanted:
        if len(seconds := device.get(run.place, [])) >= step_charts.FEWEST:
            name = comparison_axes.words(comparison_axes.key(point, section.names), section.names) or section.step
            yield _Arm(name, report.series[run.place], seconds)


def _first(report: Report, point: Point) -> Run | None:
    heard = report.series.heard
    long = (run for run in point.runs if run.place in heard and heard[run.place].length >= step_charts.FEWEST)
    return next(long, None)


def _drawn(title: str, arm: _Arm) -> str:
    last = max(arm.qps[-1][0], arm.device[-1].second)
    across, tops = Scale(0.0, last, LEFT, LEFT + WIDTH), dict(_tops())
    foot = TOP + sum(HEIGHTS.values()) + GAP * (len(HEIGHTS) - 1)
    parts = [drawing.across(across, TOP, foot, "seconds"), *_rates(across, tops["QPS"], arm.qps)]
    parts += _device(across, "MiB/s", tops["MiB/s"], arm.device, [lambda each: each.read, lambda each: each.written])
    parts += _device(across, "busy %", tops["busy %"], arm.device, [lambda each: each.busy])
    below = foot + 3.5 * drawing.LINE
    parts.append(drawing.legend([READ, WRITTEN], LEFT, below))
    return drawing.svg(title, LEFT + WIDTH + 8, below + 2 * drawing.LINE, *parts)


def _tops() -> Iterator[tuple[str, float]]:
    top = TOP
    for name, height in HEIGHTS.items():
        yield name, top
        top += height + GAP


def _up(name: str, top: float, values: Sequence[float]) -> Scale:
    high = 100.0 if name == "busy %" else max(values, default=0.0) * 1.05 or 1.0
    return Scale(0.0, high, top + HEIGHTS[name], top)


def _rates(across: Scale, top: float, qps: Sequence[tuple[float, float]]) -> list[str]:
    up = _up("QPS", top, [rate for _, rate in qps])
    stalls = [at for (at, _), stall in zip(qps, mark_stalls([rate for _, rate in qps]), strict=True) if stall]
    pixels = sorted({round(across(at)) for at in stalls})
    marks = [drawing.line(at, up.first, at, up.first - TICK, STALL, 1.5) for at in pixels]
    return [drawing.up(up, LEFT, LEFT + WIDTH, "QPS"), _path(across, up, qps, 0), *marks]


def _device(
    across: Scale,
    name: str,
    top: float,
    seconds: Sequence[DeviceSecond],
    figures: Sequence[Callable[[DeviceSecond], float]],
) -> list[str]:
    lines = [[(each.second, figure(each)) for each in seconds] for figure in figures]
    up = _up(name, top, [value for line in lines for _, value in line])
    return [drawing.up(up, LEFT, LEFT + WIDTH, name), *(_path(across, up, line, at) for at, line in enumerate(lines))]


def _path(across: Scale, up: Scale, points: Sequence[tuple[float, float]], colour: int) -> str:
    together = -(-len(points) // POINTS)
    parts = [points[at : at + together] for at in range(0, len(points), together)]
    means = [(part[-1][0], fmean(value for _, value in part)) for part in parts]
    return drawing.path([(across(at), up(value)) for at, value in means], drawing.colour_of(colour))
