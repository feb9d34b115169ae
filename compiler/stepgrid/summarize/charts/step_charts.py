"""Charts of a step: scaling, response times, trade-offs, recall, and what happened over time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from stepgrid.collect.series import mark_stalls
from stepgrid.model import units
from stepgrid.model.plan import Axis
from stepgrid.model.units import number
from stepgrid.summarize.charts import drawing, forms
from stepgrid.summarize.charts.forms import Line, Mark, Panel, Place, Plane
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import ClientLine
from stepgrid.summarize.report import Report

MOST_OVER_TIME, LEAST_OVER_TIME = 64, 4  # of a page, shared by its steps, and of a step; the rest stays in the tables
MOST_DEVICES = 48  # of a page
GOLDEN = 0.618  # steps of this share of a list come near each of its parts soon
FEWEST_SECONDS = 3  # points of a series that are worth a line
FEWEST_LABELS = 3  # of an axis of numbers
MOST_LINES, MOST_SCALING = 8, 9  # lines of a chart, and charts of a step
FEWEST_TIMES, MOST_TIMES = 2, 40  # points of a chart of response times
FEWEST_COSTS, MOST_COSTS = 4, 400  # marks of a trade-off
APART = 1.05  # costs that all points have alike are none to weigh
MOST_SEARCHES = 3000  # of more, those on the line alone are drawn
PERCENTILES = {"p50_us": "p50", "p99_us": "p99", "p99_9_us": "p99.9"}
SERVER = "server_rss_bytes"  # where there is one, the step's own process is only its client
CLIENT = "process_max_rss_bytes"
COSTS = {
    "write_amplification": "write amplification",
    SERVER: "memory of the server",
    CLIENT: "memory",
    "database_bytes": "size of the database",
}
RATES = {"insert": "rows inserted per second", "query": "queries per second"}  # deletes follow inserts
TARGETS = {"insert": "target_inserts_per_s"}  # of all clients

Arm = TypeVar("Arm")


@dataclass(frozen=True, slots=True)
class Picture:
    title: str
    svg: str = field(repr=False)


class RateCharts(NamedTuple):
    """Charts of an operation of each client, one for each arm."""

    title: str
    pictures: Sequence[Picture]
    has_targets: bool


# Along an axis of numbers


def scaling(section: Section) -> list[Picture]:
    """Draw QPS along an axis of numbers, such as threads: a line for each arm."""
    axis = numeric_axis(section)
    if axis is None:
        return []
    groups: dict[str, list[Line]] = {}
    for group, line in _lines(section, axis):
        groups.setdefault(group, []).append(line)
    ticks = [(value, label) for label in axis.labels if (value := numeric_value(label)) is not None]
    pictures = []
    for group, lines in list(groups.items())[:MOST_SCALING]:
        title = ", ".join(filter(None, (f"{section.step}: QPS by {axis.name}", group)))
        pictures.append(Picture(title, forms.lines_by_value(title, axis.name, ticks, lines[:MOST_LINES], "QPS")))
    return pictures


def numeric_axis(section: Section) -> Axis | None:
    """Return the axis with the most labels, all of them numbers."""
    axes = []
    for axis in section.axes:
        values = {numeric_value(label) for label in axis.labels}
        if axis.name != comparison_axes.BUILD and None not in values and len(values) >= FEWEST_LABELS:
            axes.append(axis)
    return max(axes, key=lambda axis: len(axis.labels), default=None)


def numeric_value(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        value = number(label)
        return None if value is None else float(value)


def _lines(section: Section, axis: Axis) -> Iterator[tuple[str, Line]]:
    """Make a line for each combination of the other axes; the first of them groups where there are many."""
    names = [name for name in section.names if name != axis.name]
    arms: dict[comparison_axes.Labels, list[Point]] = {}
    for point in section.points:
        arms.setdefault(comparison_axes.key(point, names), []).append(point)
    split = 1 if len(arms) > MOST_LINES and len(names) > 1 else 0
    for labels, points in arms.items():
        places = []
        for point in points:
            value, spread = numeric_value(point.labels.get(axis.name, "")), point.spread()
            if value is not None and spread:
                places.append(Place(value, *spread))
        if places:
            group = comparison_axes.words(labels[:split], names[:split])
            yield group, Line(comparison_axes.words(labels[split:], names[split:]), sorted(places))


# Figures of points


def response_times(section: Section) -> Picture | None:
    rows = []
    for point in _distinct(section):
        spreads = [point.spread(metric) for metric in PERCENTILES]
        values = [spread[0] if spread and spread[0] > 0 else None for spread in spreads]
        if any(values):
            rows.append((_name(point, section) or "all", values))
    if not FEWEST_TIMES <= len(rows) <= MOST_TIMES:
        return None
    title = f"{section.step}: response times"
    return Picture(title, forms.percentiles(title, rows, [*PERCENTILES.values()], "µs"))


def trade_offs(section: Section) -> list[Picture]:
    """Draw QPS against what it costs; a line joins the points that no other one beats in both."""
    is_served = any(SERVER in run.metrics for point in section.points for run in point.runs)
    pictures = []
    for metric, cost in COSTS.items():
        marks = list(_cost_marks(section, metric))
        values = [mark.x for mark in marks]
        is_weighed = FEWEST_COSTS <= len(marks) <= MOST_COSTS and max(values) > APART * min(values)
        if not is_weighed or (is_served and metric == CLIENT):
            continue
        best = forms.front(marks)
        names = [mark.name.partition(": ")[0] for mark in best]
        shown = "; ".join(names if len(names) <= 3 else [names[0], "…", names[-1]])
        title = f"{section.step}: QPS and {cost}"
        marks = [mark if mark in best else mark._replace(arm=1) for mark in marks]
        chart = forms.marks(title, Plane(cost, "QPS", metric.endswith("_bytes")), marks, [best])
        pictures.append(Picture(f"{title}; on the line: {shown}", chart))
    return pictures


def _cost_marks(section: Section, metric: str) -> Iterator[Mark]:
    show = units.size if metric.endswith("_bytes") else drawing.short
    for point in _distinct(section):
        cost, qps = point.spread(metric), point.spread()
        if cost and qps:
            figures = f"{units.rate(qps[0])} QPS, {show(cost[0])}"
            yield Mark(cost[0], qps[0], f"{_name(point, section)}: {figures}")


def recall(section: Section) -> Picture | None:
    """Draw recall and QPS of a step's searches, with the line of each build's best; None where there is no line."""
    marks = []
    builds = list(dict.fromkeys(point.build for point in section.points))
    for point in _distinct(section):
        share, qps = point.spread("recall"), point.spread()
        if share and qps and qps[0] > 0:
            name = f"{point.build}: recall {share[0]:.4g}, {units.rate(qps[0])} QPS"
            marks.append(Mark(share[0], qps[0], name, builds.index(point.build)))
    if max(Counter(mark.arm for mark in marks).values(), default=0) < 2:
        return None
    paths = [
        forms.front([mark for mark in marks if mark.arm == arm], is_more_better=True) for arm in range(len(builds))
    ]
    shown = marks if len(marks) <= MOST_SEARCHES else [mark for path in paths for mark in path]
    title = f"{section.step}: recall and QPS"
    chart = forms.marks(title, Plane("recall", "QPS", from_zero=False), shown, list(filter(None, paths)), builds)
    return Picture(title, chart)


# Over time


def over_time(report: Report, section: Section) -> list[Picture]:
    """Draw QPS by second, an arm each on one scale, its loads over each other."""
    summaries = report.data.series.summaries
    series = [summaries[place] for point in _distinct(section) for place in point.places if place in summaries]
    if longest_series(report, section) < FEWEST_SECONDS:
        return []
    seconds, top = max(summary.last for summary in series), max(summary.top for summary in series)
    long = [
        point
        for point in _distinct(section)
        if any(summaries[place].length >= FEWEST_SECONDS for place in point.places if place in summaries)
    ]
    pictures = []
    for point in spread(long, most_over_time(report)):
        name = _name(point, section) or section.step
        lines = [report.data.series[run.place] for run in point.runs if run.place in summaries]
        title = f"{section.step}, {name}: QPS over time"
        pictures.append(Picture(name, forms.over_time(title, [Panel("QPS", lines, top)], seconds)))
    return pictures


def most_over_time(report: Report) -> int:
    return max(LEAST_OVER_TIME, MOST_OVER_TIME // max(len(report.comparisons.sections), 1))


def spread(arms: Sequence[Arm], count: int) -> list[Arm]:
    """Choose so many of all, in their order: not the first ones, whose last axes alone would differ."""
    total = len(arms)
    if total <= count:
        return list(arms)
    stride = next(step for step in range(max(2, round(total * GOLDEN)), 2 * total) if math.gcd(step, total) == 1)
    return [arms[index] for index in sorted(number * stride % total for number in range(count))]


def longest_series(report: Report, section: Section) -> int:
    """Return the points of the longest series."""
    summaries = report.data.series.summaries
    places = (place for point in section.points for place in point.places)
    return max((summaries[place].length for place in places if place in summaries), default=0)


def series_note(report: Report, section: Section) -> str | None:
    """Return what the driver says about the seconds' figures, such as a background writer that is in them."""
    facts = report.data.facts.get("facts", {})
    runs = (run for point in section.points for run in point.runs)
    notes = (facts.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {}).get("qps_over_time") for run in runs)
    return next(filter(None, notes), None)


def devices(report: Report, section: Section) -> list[Picture]:
    """Draw QPS and stalls above what the device did in the same seconds, of the first load of each arm."""
    summaries = report.data.series.summaries
    long = {place for place, summary in summaries.items() if summary.length >= FEWEST_SECONDS}
    first_runs = ((point, next((run for run in point.runs if run.place in long), None)) for point in _distinct(section))
    arms = [(point, run) for point, run in first_runs if run]
    arms = spread(arms, max(1, MOST_DEVICES // max(len(report.comparisons.sections), 1)))
    seconds_by_place = report.data.details.device_seconds([run.place for _, run in arms])
    pictures = []
    for point, run in arms:
        device = seconds_by_place.get(run.place, [])
        if len(device) < FEWEST_SECONDS:
            continue
        name, qps = _name(point, section) or section.step, report.data.series[run.place]
        rates = [rate for _, rate in qps]
        stalls = [second for (second, _), stall in zip(qps, mark_stalls(rates), strict=True) if stall]
        read = [(sample.second, sample.read) for sample in device]
        written = [(sample.second, sample.written) for sample in device]
        panels = [
            Panel("QPS", [qps], max(rates) * 1.05, 80, stalls),
            Panel("MiB/s", [read, written], max(value for _, value in read + written) * 1.05, 55),
            Panel("busy %", [[(sample.second, sample.busy) for sample in device]], 100.0, 40),
        ]
        title = f"{section.step}, {name}: QPS, stalls and the device over time"
        last = max(qps[-1][0], device[-1].second)
        pictures.append(Picture(name, forms.over_time(title, panels, last, ("read", "written"))))
    return pictures


def client_rates(report: Report, section: Section) -> list[RateCharts]:
    """Draw what each client did over time, of the first load of each arm, with the seconds in which one stood still."""
    charts = (_rate_charts(report, section, operation) for operation in RATES)
    return [chart for chart in charts if chart.pictures]


def _rate_charts(report: Report, section: Section, operation: str) -> RateCharts:
    first_runs = (
        (
            point,
            next(
                (run for run in point.runs if operation in report.data.details.client_operations.get(run.place, ())),
                None,
            ),
        )
        for point in _distinct(section)
    )
    arms = spread([(point, run) for point, run in first_runs if run], most_over_time(report))
    clients_by_arm = [(point, run, report.data.details.client_lines(run.place, operation)) for point, run in arms]
    lines = [line for _, _, clients in clients_by_arm for line in clients]
    title = RATES[operation]
    if max((len(line.seconds) for line in lines), default=0) < FEWEST_SECONDS:
        return RateCharts(title, [], has_targets=False)
    seconds, top = max(max(line.seconds) for line in lines), max(max(line.rates) for line in lines)
    pictures, has_targets = [], False
    for point, run, clients in clients_by_arm:
        total = run.metrics.get(TARGETS.get(operation, ""))
        target = None if total is None else total / len(clients)
        has_targets = has_targets or target is not None
        panel = Panel("", [line.whole for line in clients], top * 1.02, stalls=_stalls(clients), target=target)
        name = _name(point, section) or section.step
        label = f"{section.step}, {name}: {title} of each client over time"
        pictures.append(Picture(name, forms.over_time(label, [panel], seconds)))
    return RateCharts(title, pictures, has_targets)


def _stalls(clients: Sequence[ClientLine]) -> list[float]:
    return sorted({second for line in clients for second in line.stalls})


def _distinct(section: Section) -> list[Point]:
    """Return the points, those that share their runs once."""
    return [*{point.places: point for point in section.points}.values()]


def _name(point: Point, section: Section) -> str:
    return comparison_axes.words(comparison_axes.key(point, section.names), section.names)
