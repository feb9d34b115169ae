"""Charts of a step: latency, scaling, trade-offs, and series over time of arms, devices and clients."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple, TypeVar

from msgspec import Struct

from stepgrid.collect.series import Span, dips, mark_stalls
from stepgrid.model import units
from stepgrid.model.figures import ASKED
from stepgrid.model.plan import BUILD, PlannedAxis
from stepgrid.model.table import group
from stepgrid.model.units import number
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.cost import MOST_ROWS
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import DeviceSecond, Place, Run
from stepgrid.summarize.report import Report
from stepgrid.summarize.sentences import dip_text
from stepgrid_page import chart_forms, drawing
from stepgrid_page.chart_forms import Axes, ChartLine, ChartRow, LinePoint, Mark, Panel, Rows, TimeLine
from stepgrid_page.drawing import Marks

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
_Item = TypeVar("_Item")
TARGETS = {"insert": "target_inserts_per_s"}  # of all clients


class Chart(Struct, frozen=True):
    """A chart in the form of a screen, that of a phone where it is another, and other views of the same figures."""

    title: str
    svg: str
    narrow: str = ""
    views: Mapping[str, Sequence[str]] = {}
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


class ArrangedPoint(NamedTuple):
    group: str
    arm: str
    point: Point

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.group, self.arm)))


class StepArrangement(Struct, frozen=True):
    """Points of a step for its charts: one axis gives the arms their marks, the others make the groups."""

    groups: tuple[str, ...]
    points: tuple[ArrangedPoint, ...]  # group by group, those that share their runs once


@lru_cache(256)  # each kind of chart asks for it
def arrange(report: Report, section: StepPoints) -> StepArrangement:
    """Give builds their marks, or else the axis that is compared; that one is the first of the groups otherwise."""
    names = section.names
    across = [name for comparison in report.comparisons.all[:1] for name in comparison.layout.across if name in names]
    mark = BUILD if BUILD in names else (across or [*names])[-1]
    axes = tuple(dict.fromkeys(name for name in (*across, *names) if name != mark))
    points = []
    for point in {point.places: point for point in section.points}.values():
        name = comparison_axes.words(comparison_axes.key(point, axes), axes)
        arm = comparison_axes.words(comparison_axes.key(point, (mark,)), (mark,)) or section.step
        points.append((name, ArrangedPoint(name, arm, point)))
    return StepArrangement(axes, tuple(point for members in group(points).values() for point in members))


def step_charts(report: Report, section: StepPoints, marks: Marks) -> dict[str, list[Chart]]:
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


def latency(report: Report, section: StepPoints, marks: Marks) -> Chart | None:
    percentiles = []
    for arranged in arrange(report, section).points:
        spreads = [spread for metric in PERCENTILES if (spread := arranged.point.spread(metric)) and spread[0] > 0]
        if spreads:
            percentiles.append((arranged, [value for value, _, _ in spreads]))
    if len(percentiles) < 2:
        return None
    rows = []
    for arranged, values in choose_evenly(percentiles, MOST_ROWS):
        text = " / ".join(map(drawing.short, values))
        note = ", ".join(f"{name} {value:.3g}" for name, value in zip(PERCENTILES.values(), values, strict=False))
        rows.append(ChartRow(arranged.group, arranged.arm, values[0], text, note=note, tail=tuple(values[1:])))
    title = f"{section.step}: latency"
    note = omission(len(rows), len(percentiles))
    return Chart(title, chart_forms.percentiles(Rows(title, "µs", rows, marks)), note=note)


def scaling(report: Report, section: StepPoints, marks: Marks) -> list[Chart]:
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
    groups = group(
        (
            comparison_axes.words(labels[:split], names[:split]),
            ChartLine(comparison_axes.words(labels[split:], names[split:]), sorted(line_points)),
        )
        for labels, line_points in arms.items()
    )
    ticks = [(value, label) for label in axis.labels if (value := numeric_value(label)) is not None]
    charts = []
    for name, lines in list(groups.items())[:MOST_LINES]:
        title = ", ".join(filter(None, (f"{section.step}: {metric.title} by {axis.name}", name)))
        axes = Axes(axis.name, metric.title, ticks)
        charts.append(Chart(title, chart_forms.lines_by_value(title, axes, lines[:MOST_LINES], marks)))
    return charts


def numeric_axis(section: StepPoints) -> PlannedAxis | None:
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


def trade_offs(report: Report, section: StepPoints, marks: Marks) -> list[Chart]:
    """Draw QPS against what it costs, or gives; a line joins the points that no other one beats in both."""
    arranged, charts = arrange(report, section), []
    qps = [(point, spread[0]) for point in arranged.points if (spread := point.point.spread()) and spread[0] > 0]
    names = {name for section_point in section.points[:1] for run in section_point.runs for name in run.metrics}
    for metric, noun in COSTS.items():
        if metric not in names or (metric == CLIENT and SERVER in names):
            continue
        show = units.size if metric.endswith("_bytes") else "{:.4g}".format
        is_gain, points = metric == GAIN, []
        for (_, arm, point), rate in qps:
            if spread := point.spread(metric):
                labels = filter(None, comparison_axes.key(point, arranged.groups))
                note = f"{units.short_figure(rate)} QPS, {show(spread[0])}"
                points.append(Mark(spread[0], rate, " · ".join(labels), arm, note))
        # the best of all points by costs, or of each arm by gains
        groups = group((point.arm if is_gain else "", point) for point in points).values()
        fronts = [chart_forms.front(members, is_gain) for members in groups if len(members) >= FEWEST_POINTS[is_gain]]
        if fronts and max(point.x for point in points) > APART * min(point.x for point in points):
            drawn = points if len(points) <= MOST_POINTS else [point for front in fronts for point in front]
            title = f"{section.step}: QPS and {noun}, up and to the {'right' if is_gain else 'left'} is better"
            axes = Axes(noun, "QPS", has_sizes=metric.endswith("_bytes"), from_zero=not is_gain)
            charts.append(Chart(title, chart_forms.trade_off(title, axes, drawn, fronts, marks)))
    return charts


# Over time


def over_time(report: Report, section: StepPoints, marks: Marks) -> list[Chart]:
    """Draw QPS by second: a chart for each group, its arms as lines, and the seconds that stood still."""
    series, long = report.data.series, _long_places(report)
    groups = group(
        (arranged.group, arranged)
        for arranged in arrange(report, section).points
        if not long.isdisjoint(arranged.point.places)
    )
    charts = []
    for name in choose_evenly([*groups], most_panels(report)):
        lines = [
            TimeLine(arranged.arm, [series[run_place] for run_place in arranged.point.places if run_place in series])
            for arranged in groups[name][:MOST_LINES]
        ]
        title = ", ".join(filter(None, (f"{section.step}: QPS over time", name)))
        requested = _requested_rates(report, groups[name][:MOST_LINES])
        is_level = all(len({round(rate, 3) for _, rate in line.loads[0]}) < 2 for line in requested)
        stalls = _stalls(line.loads[0] for line in lines) if is_level else {}  # a trough that was asked for is none
        lines += requested
        panel = Panel("QPS", lines, stalls)
        charts.append(Chart(title, chart_forms.over_time(title, [panel], marks), note=_series_note(report, section)))
    return charts


def _requested_rates(report: Report, members: Sequence[ArrangedPoint]) -> list[TimeLine]:
    """Give the rates that clients were asked for over time."""
    details, lines = report.data.details, []
    for arranged in members:
        runs = [run for run in arranged.point.runs if ASKED in details.client_operations.get(run.place, ())]
        if runs:
            lines.append(TimeLine(f"{arranged.arm}, {ASKED}", [details.client_lines(runs[0].place, ASKED)[0].points]))
    return lines


def _series_note(report: Report, section: StepPoints) -> str:
    """Return what the driver says of the figures by second, such as a background writer that counts in them."""
    facts = report.data.facts.get("facts", {})
    names = (f"{run.place[0]}/{run.attempt}/{run.place[1]}" for run in section.runs)
    notes = (facts.get(name, {}).get("qps_over_time") for name in names)
    return next(filter(None, notes), "")


def _stalls(series: Iterable[chart_forms.Series]) -> dict[str, Sequence[Span]]:
    """Collect the seconds in which some series stood still."""
    stalls: set[float] = set()
    for pairs in series:
        rates = [rate for _, rate in pairs]
        stalls |= {second for (second, _), stall in zip(pairs, mark_stalls(rates), strict=True) if stall}
    return {"stalls": [(second, second) for second in sorted(stalls)]} if stalls else {}


def most_panels(report: Report) -> int:
    """Return how many charts of a kind a step may have, so that a page of many steps stays small."""
    return max(2, MOST_PANELS // max(len(report.comparisons.sections), 1))


def choose_evenly(items: Sequence[_Item], count: int) -> list[_Item]:
    """Choose so many of all, in their order: not the first ones, whose last axes alone would differ."""
    total = len(items)
    if total <= count:
        return list(items)
    golden = range(max(2, round(total * 0.618)), 2 * total)  # steps of this share come near each part soon
    stride = next(step for step in golden if math.gcd(step, total) == 1)
    return [items[index] for index in sorted(run_place * stride % total for run_place in range(count))]


def _long_places(report: Report) -> Set[Place]:
    return {key for key, pairs in report.data.series.items() if len(pairs) >= FEWEST_SECONDS}


def _first_runs(report: Report, section: StepPoints, usable: Set[Place]) -> list[tuple[ArrangedPoint, Run]]:
    """Choose some points, and of each its first run that can be drawn."""
    points = arrange(report, section).points
    runs = ((arranged, next((run for run in arranged.point.runs if run.place in usable), None)) for arranged in points)
    return choose_evenly([(arranged, run) for arranged, run in runs if run], most_panels(report))


def devices(report: Report, section: StepPoints, marks: Marks) -> list[Chart]:
    """Draw QPS above events of the engine and the device in the same seconds, of the first load of some arms."""
    details = report.data.details
    chosen = _first_runs(report, section, _long_places(report))
    keys = [run.place for _, run in chosen]
    seconds_by_place, events_by_place = details.device_seconds(keys), details.events(keys)
    charts = []
    for arranged, run in chosen:
        device, events = seconds_by_place.get(run.place, []), events_by_place.get(run.place, [])
        if len(device) >= FEWEST_SECONDS or events:
            qps = report.data.series[run.place]
            pairs = ((event.kind.removeprefix("write "), event[:2]) for event in sorted(events, key=attrgetter("kind")))
            marks_below = {**_stalls([qps]), **group(pairs)}
            panels = [
                Panel("QPS", [TimeLine(arranged.arm, [qps])], marks_below, dips(qps) if events else (), height=80),
                *_device_panels(device),
            ]
            title, note = f"{section.step}: QPS and the device over time, {arranged.name}", dip_text([(qps, events)])
            charts.append(Chart(title, chart_forms.over_time(title, panels, drawing.PageMarks(marks)), note=note))
    return charts


def _device_panels(device: Sequence[DeviceSecond]) -> list[Panel]:
    if len(device) < FEWEST_SECONDS:
        return []
    read = TimeLine("read", [[(sample.second, sample.read) for sample in device]])
    written = TimeLine("written", [[(sample.second, sample.written) for sample in device]])
    busy = TimeLine("busy", [[(sample.second, sample.busy) for sample in device]])
    return [Panel("MiB/s", [read, written], height=60), Panel("busy %", [busy], height=40, most=100.0)]


def client_rates(report: Report, section: StepPoints) -> list[Chart]:
    """Draw what each client did over time and when one stood still, of the first load of some arms."""
    details, charts = report.data.details, []
    for operation, noun in RATES.items():
        usable = {run_place for run_place, names in details.client_operations.items() if operation in names}
        for arranged, run in _first_runs(report, section, usable):
            clients = details.client_lines(run.place, operation)
            if max(len(client.seconds) for client in clients) < FEWEST_SECONDS:
                continue
            total = run.metrics.get(TARGETS.get(operation, ""))
            target = None if total is None else total / len(clients)
            stalls = _stalls(list(zip(client.seconds, client.rates, strict=True)) for client in clients)
            lines = [TimeLine(f"client {client.client + 1}", [client.points]) for client in clients[:MOST_LINES]]
            panel = Panel("", lines, stalls, target=target)
            title = f"{section.step}: {noun} of each client, {arranged.name}"
            note = "Dashed: what each client was asked for." if target is not None else ""
            charts.append(Chart(title, chart_forms.over_time(title, [panel], drawing.PageMarks()), note=note))
    return charts


def omission(drawn: int, total: int) -> str:
    return "" if drawn == total else f"{drawn} of {total} points; the tables have all."
