"""Charts of a step: latency, scaling, trade-offs, and series over time of arms, devices and clients."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stepgrid.collect.series import mark_stalls
from stepgrid.model import units
from stepgrid.model.plan import BUILD, Axis
from stepgrid.model.units import number
from stepgrid.summarize.charts import drawing, forms
from stepgrid.summarize.charts.drawing import Marks
from stepgrid.summarize.charts.forms import Axes, Line, LinePoint, Mark, Panel, Row, Rows, TimeLine
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.data.tables_reader import Run
from stepgrid.summarize.report import Report

MOST_ROWS = 24  # of a chart; of more those that differ most
MOST_LINES, MOST_PANELS = 8, 24  # lines of a chart, and charts of a kind on a page
FEWEST_SECONDS = 10  # of a line over time; fewer are in the tables
FEWEST_LABELS = 3  # of an axis of numbers
FEWEST_POINTS, MOST_POINTS = (4, 2), 200  # of a trade-off by costs, and of an arm's by what it gives; of more the best
APART = 1.02  # costs that all points have alike are none to weigh
PERCENTILES = {"p50_us": "p50", "p99_us": "p99", "p99_9_us": "p99.9"}
SERVER = "server_rss_bytes"  # where there is one, the step's own process is only its client
CLIENT = "process_max_rss_bytes"
GAIN = "recall"  # more of it is better
COSTS = {
    "write_amplification": "write amplification",
    SERVER: "memory of the server",
    CLIENT: "memory",
    "database_bytes": "size of the database",
    "recall": "recall",
}
RATES = {"insert": "rows inserted per second", "query": "queries per second"}  # deletes follow inserts
TARGETS = {"insert": "target_inserts_per_s"}  # of all clients


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart in the form of a screen, that of a phone where it is another, and other views of the same figures."""

    title: str
    svg: str = field(repr=False)
    narrow: str = field(default="", repr=False)
    views: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    note: str = ""

    @property
    def forms(self) -> list[Sequence[str]]:
        """List name, form of a screen and form of a phone of each view, that of the figures themselves first."""
        return [("figures", self.svg, self.narrow), *((name, *pictures) for name, pictures in self.views.items())]

    @property
    def name(self) -> str:
        """Return what `report --chart` calls it: readww-latency."""
        subject = self.title.lower().partition(", up and to the ")[0]
        return re.sub(r"[^a-z0-9.]+", "-", subject).strip("-")


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Axes of a step's charts: one gives the arms their marks, the others make the groups."""

    section: Section
    mark: str
    groups: tuple[str, ...]

    def arm(self, point: Point) -> str:
        return comparison_axes.words(comparison_axes.key(point, (self.mark,)), (self.mark,)) or self.section.step

    def group(self, point: Point) -> str:
        return comparison_axes.words(comparison_axes.key(point, self.groups), self.groups)

    def name(self, point: Point) -> str:
        return ", ".join(filter(None, (self.group(point), self.arm(point))))

    @property
    def points(self) -> list[Point]:
        """List the points group by group, those that share their runs once."""
        distinct = {point.places: point for point in self.section.points}.values()
        order = {group: run_place for run_place, group in enumerate(dict.fromkeys(map(self.group, distinct)))}
        return sorted(distinct, key=lambda point: order[self.group(point)])


def arrange(report: Report, section: Section) -> Arrangement:
    """Give builds their marks, or else the axis that is compared; that one is the first of the groups otherwise."""
    names = section.names
    across = [name for comparison in report.comparisons.all[:1] for name in comparison.layout.across if name in names]
    mark = BUILD if BUILD in names else (across or [*names])[-1]
    groups = dict.fromkeys(name for name in (*across, *names) if name != mark)
    return Arrangement(section, mark, tuple(groups))


def step_charts(report: Report, section: Section, marks: Marks) -> dict[str, list[Chart]]:
    """Collect the charts of a step by their kind."""
    charts = {
        "latency": [chart for chart in (latency(report, section, marks),) if chart],
        "over time": [*over_time(report, section, marks), *client_rates(report, section)],
        "device": devices(report, section, marks),
        "trade-offs": trade_offs(report, section, marks),
        "scaling": scaling(report, section, marks),
    }
    return {kind: members for kind, members in charts.items() if members}


# Latency, scaling and trade-offs of a step


def latency(report: Report, section: Section, marks: Marks) -> Chart | None:
    arranged, drawn = arrange(report, section), []
    for point in arranged.points:
        values = [spread[0] for metric in PERCENTILES if (spread := point.spread(metric)) and spread[0] > 0]
        if values:
            text = " / ".join(map(drawing.short, values))
            note = ", ".join(f"{name} {value:.3g}" for name, value in zip(PERCENTILES.values(), values, strict=False))
            drawn.append(
                Row(arranged.group(point), arranged.arm(point), values[0], text, note=note, tail=tuple(values[1:]))
            )
    if len(drawn) < 2:
        return None
    title = f"{section.step}: latency"
    chosen: list[Row] = choose_evenly(drawn, MOST_ROWS)
    note = omission(len(chosen), len(drawn), is_ranked=False)
    return Chart(title, forms.percentiles(Rows(title, "µs", chosen, marks)), note=note)


def scaling(report: Report, section: Section, marks: Marks) -> list[Chart]:
    """Draw the metric along an axis of numbers, such as threads: a line for each arm."""
    axis = numeric_axis(section)
    if axis is None:
        return []
    metric, names = report.setup.metric, [name for name in section.names if name != axis.name]
    arms: dict[comparison_axes.Labels, list[LinePoint]] = {}
    for point in section.points:
        value, figures = numeric_value(point.labels.get(axis.name, "")), point.spread(metric.name)
        if value is not None and figures:
            arms.setdefault(comparison_axes.key(point, names), []).append(LinePoint(value, *figures))
    split = 1 if len(arms) > MOST_LINES and len(names) > 1 else 0
    groups: dict[str, list[Line]] = {}
    for labels, run_places in arms.items():
        line = Line(comparison_axes.words(labels[split:], names[split:]), sorted(run_places))
        groups.setdefault(comparison_axes.words(labels[:split], names[:split]), []).append(line)
    ticks = [(value, label) for label in axis.labels if (value := numeric_value(label)) is not None]
    charts = []
    for group, lines in list(groups.items())[:MOST_LINES]:
        title = ", ".join(filter(None, (f"{section.step}: {metric.title} by {axis.name}", group)))
        axes = Axes(axis.name, metric.title, ticks)
        charts.append(Chart(title, forms.lines_by_value(title, axes, lines[:MOST_LINES], marks)))
    return charts


def numeric_axis(section: Section) -> Axis | None:
    """Return the axis with the most labels, all of them numbers."""
    axes = []
    for axis in section.axes:
        values = {numeric_value(label) for label in axis.labels}
        if axis.name != BUILD and None not in values and len(values) >= FEWEST_LABELS:
            axes.append(axis)
    return max(axes, key=lambda axis: len(axis.labels), default=None)


def numeric_value(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        value = number(label)
        return None if value is None else float(value)


def trade_offs(report: Report, section: Section, marks: Marks) -> list[Chart]:
    """Draw QPS against what it costs, or gives; a line joins the points that no other one beats in both."""
    arranged, charts = arrange(report, section), []
    is_served = any(SERVER in run.metrics for point in section.points for run in point.runs)
    for metric, noun in COSTS.items():
        points = list(_priced(arranged, metric))
        is_gain = metric == GAIN
        arms = list(dict.fromkeys(point.arm for point in points)) if is_gain else [None]
        groups = [[point for point in points if arm in (None, point.arm)] for arm in arms]
        fronts = [forms.front(group, is_gain) for group in groups if len(group) >= FEWEST_POINTS[is_gain]]
        values = [point.x for point in points]
        if not fronts or max(values) < APART * min(values) or (is_served and metric == CLIENT):
            continue
        drawn = points if len(points) <= MOST_POINTS else [point for front in fronts for point in front]
        title = f"{section.step}: QPS and {noun}, up and to the {'right' if is_gain else 'left'} is better"
        axes = Axes(noun, "QPS", has_sizes=metric.endswith("_bytes"), from_zero=not is_gain)
        charts.append(Chart(title, forms.trade_off(title, axes, drawn, fronts, marks)))
    return charts


def _priced(arranged: Arrangement, metric: str) -> Iterator[Mark]:
    show = units.size if metric.endswith("_bytes") else "{:.4g}".format
    for point in arranged.points:
        price, qps = point.spread(metric), point.spread()
        if price and qps and qps[0] > 0:
            labels = filter(None, comparison_axes.key(point, arranged.groups))
            note = f"{units.rate(qps[0])} QPS, {show(price[0])}"
            yield Mark(price[0], qps[0], " · ".join(labels), arranged.arm(point), note)


# Over time


class _Sampled(NamedTuple):
    """Runs of a point with enough seconds to draw."""

    point: Point
    loads: list[forms.Series]


def over_time(report: Report, section: Section, marks: Marks) -> list[Chart]:
    """Draw QPS by second: a chart for each group, its arms as lines, and the seconds that stood still."""
    summaries = report.data.series.summaries
    arranged = arrange(report, section)
    groups: dict[str, list[Point]] = {}
    for point in arranged.points:
        if any(_is_long(report, run_place) for run_place in point.places):
            groups.setdefault(arranged.group(point), []).append(point)
    charts = []
    for group in choose_evenly([*groups], most_panels(report)):
        sampled = [
            _Sampled(point, [report.data.series[run_place] for run_place in point.places if run_place in summaries])
            for point in groups[group][:MOST_LINES]
        ]
        lines = [TimeLine(arranged.arm(point), loads) for point, loads in sampled]
        title = ", ".join(filter(None, (f"{section.step}: QPS over time", group)))
        panel = Panel("QPS", lines, _events(loads[0] for _, loads in sampled))
        charts.append(Chart(title, forms.over_time(title, [panel], marks)))
    return charts


def _events(series: Iterable[forms.Series]) -> dict[str, Sequence[float]]:
    """Collect the stalls of each first load."""
    stalls: set[float] = set()
    for pairs in series:
        rates = [rate for _, rate in pairs]
        stalls |= {second for (second, _), stall in zip(pairs, mark_stalls(rates), strict=True) if stall}
    return {"stalls": sorted(stalls)} if stalls else {}


def most_panels(report: Report) -> int:
    """Return how many charts of a kind a step may have, so that a page of many steps stays small."""
    return max(2, MOST_PANELS // max(len(report.comparisons.sections), 1))


def choose_evenly(items: Sequence[object], count: int) -> list:  # type: ignore[type-arg]
    """Choose so many of all, in their order: not the first ones, whose last axes alone would differ."""
    total = len(items)
    if total <= count:
        return list(items)
    golden = range(max(2, round(total * 0.618)), 2 * total)  # steps of this share come near each part soon
    stride = next(step for step in golden if math.gcd(step, total) == 1)
    return [items[index] for index in sorted(run_place * stride % total for run_place in range(count))]


def _is_long(report: Report, run_place: Place) -> bool:
    summary = report.data.series.summaries.get(run_place)
    return summary is not None and summary.length >= FEWEST_SECONDS


def _first_runs(report: Report, arranged: Arrangement, is_usable: Callable[[Run], bool]) -> list[tuple[Point, Run]]:
    """Choose some points, and of each its first run that can be drawn."""
    runs = ((point, next(filter(is_usable, point.runs), None)) for point in arranged.points)
    pairs: list[tuple[Point, Run]] = choose_evenly([pair for pair in runs if pair[1]], most_panels(report))
    return pairs


def devices(report: Report, section: Section, marks: Marks) -> list[Chart]:
    """Draw QPS and stalls above what the device did in the same seconds, of the first load of some arms."""
    arranged, details = arrange(report, section), report.data.details
    chosen = _first_runs(report, arranged, lambda run: _is_long(report, run.place))
    seconds_by_place = details.device_seconds([run.place for _, run in chosen])
    charts = []
    for point, run in chosen:
        device = seconds_by_place.get(run.place, [])
        if len(device) >= FEWEST_SECONDS:
            qps, arm = report.data.series[run.place], arranged.arm(point)
            read = TimeLine("read", [[(sample.second, sample.read) for sample in device]])
            written = TimeLine("written", [[(sample.second, sample.written) for sample in device]])
            busy = TimeLine("busy", [[(sample.second, sample.busy) for sample in device]])
            panels = [
                Panel("QPS", [TimeLine(arm, [qps])], _events([qps]), height=80),
                Panel("MiB/s", [read, written], height=60),
                Panel("busy %", [busy], height=40, most=100.0),
            ]
            title = f"{section.step}: QPS and the device over time, {arranged.name(point)}"
            charts.append(Chart(title, forms.over_time(title, panels, drawing.PageMarks(marks))))
    return charts


def client_rates(report: Report, section: Section) -> list[Chart]:
    """Draw what each client did over time and when one stood still, of the first load of some arms."""
    arranged, details, charts = arrange(report, section), report.data.details, []
    for operation, noun in RATES.items():

        def has_rates(run: Run, operation: str = operation) -> bool:
            return operation in details.client_operations.get(run.place, ())

        for point, run in _first_runs(report, arranged, has_rates):
            clients = details.client_lines(run.place, operation)
            if max(len(client.seconds) for client in clients) < FEWEST_SECONDS:
                continue
            total = run.metrics.get(TARGETS.get(operation, ""))
            target = None if total is None else total / len(clients)
            stalls = sorted({second for client in clients for second in client.stalls})
            lines = [TimeLine(f"client {client.client + 1}", [client.whole]) for client in clients[:MOST_LINES]]
            panel = Panel("", lines, {"stalls": stalls} if stalls else {}, target)
            title = f"{section.step}: {noun} of each client, {arranged.name(point)}"
            note = "Dashed: what each client was asked for." if target is not None else ""
            charts.append(Chart(title, forms.over_time(title, [panel], drawing.PageMarks()), note=note))
    return charts


def omission(drawn: int, total: int, is_ranked: bool = True) -> str:
    if drawn == total:
        return ""
    return f"{drawn} of {total} points{', those that differ most' if is_ranked else ''}; the tables have all."
