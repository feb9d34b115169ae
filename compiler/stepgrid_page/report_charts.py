"""Charts of a report: figures and ratios of what it compares, curves of searches; one of them as a file."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.collect.step_figures import HOLDS
from stepgrid.model import units
from stepgrid.model.units import counted
from stepgrid.summarize import sentences
from stepgrid.summarize.arms import short_build
from stepgrid.summarize.comparisons.comparison import (
    RATIO,
    ArmEntry,
    ComparedMetric,
    ComparedPoint,
    Comparison,
    figure_text,
)
from stepgrid.summarize.comparisons.judgement import TAILS
from stepgrid.summarize.cost import MOST_ROWS
from stepgrid.summarize.data.points import AxisAnswers, Point, mean
from stepgrid.summarize.rate_curves import RateCurve, RatePoint, curves_by_title
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_formats import NoForm
from stepgrid.summarize.statistics import confidence_intervals, verdicts
from stepgrid.summarize.statistics.verdicts import DIFFERENCES, SAME
from stepgrid_page import chart_forms, drawing
from stepgrid_page.chart_forms import Axes, ChartRow, Mark, Rows
from stepgrid_page.drawing import NARROW, WIDE, Marks
from stepgrid_page.step_charts import Chart, arrange, omission, step_charts

BARS = "bars: 95 % intervals, an arrow where one goes on"
MOST_REACH = 4  # times its lower end: a bar of a wider interval would hide the other rows
MOST_DOTS = 10  # loads that are drawn one by one
MOST_RATIOS = 16  # rows of a chart of ratios

# Figures and ratios


class ChartPoint(NamedTuple):
    """A point that a chart may show, and its comparison with the base."""

    group: str
    arm: str
    point: Point
    entry: ArmEntry | None


Groups = dict[tuple[str, str], list[ChartPoint]]  # by step and group


def main_chart(report: Report, marks: Marks) -> Chart | None:
    """Draw the figures of what the first comparison compares, with views of another scale and of its ratios.

    A comparison of more points than that has room for is a heat map."""
    comparison, metric = next(iter(report.comparisons.all), None), report.setup.metric
    groups = _figure_groups(report, comparison)
    if not groups:
        return None
    points = [point for members in groups.values() for point in members]
    if comparison and len(points) > MOST_ROWS:
        return heat_map(report, comparison, marks)
    steps = list(dict.fromkeys(step for step, _ in groups))
    title = f"{metric.heading}, in step {steps[0]}" if len(steps) == 1 else metric.heading
    chosen = points[:MOST_ROWS]
    figures = Rows(title, metric.heading, [_figure_row(candidate, metric) for candidate in chosen], marks)
    is_log = drawing.is_wide([row.value for row in figures.rows])
    other_scale = [chart_forms.figures(figures, width, not is_log) for width in (WIDE, NARROW)]
    views = {"linear" if is_log else "log": other_scale}
    ratios = _ratio_rows(chosen)
    if ratios and comparison:
        relative = Rows(f"{title} relative to {comparison.base}", "ratio", ratios, marks, metric.verdicts)
        views["ratio"] = [chart_forms.ratios(relative, report.setup.effect, width) for width in (WIDE, NARROW)]
    note = _note(figures.rows, omission(len(chosen), len(points)))
    return Chart(title, chart_forms.figures(figures), chart_forms.figures(figures, NARROW), views, note)


def _figure_groups(report: Report, comparison: Comparison | None) -> Groups:
    """Collect the points with figures by step and group; of all steps where nothing is compared."""
    entries = {(case.row.step, case.point.places): case.entry for case in comparison.cases()} if comparison else {}
    sections = [
        section for section in report.comparisons.sections if comparison is None or section.step in comparison.steps
    ]
    groups: Groups = {}
    for section in sections:
        for group, arm, point in arrange(report, section).points:
            if point.values(report.setup.metric.name):
                name = ", ".join(filter(None, (section.step if len(sections) > 1 else "", group)))
                entry = entries.get((section.step, point.places))
                groups.setdefault((section.step, name), []).append(ChartPoint(name, arm, point, entry))
    return groups


def _figure_row(candidate: ChartPoint, metric: ComparedMetric) -> ChartRow:
    group, arm, point, entry = candidate
    means, text = point.means(metric.name), figure_text(point, metric)
    interval = confidence_intervals.mean_interval(means)
    return ChartRow(
        group,
        arm,
        units.mean(means),
        text,
        interval if interval and interval[1] < MOST_REACH * interval[0] else None,
        entry.text if entry else "",
        entry is not None and _is_undecided(entry),
        tuple(means) if 1 < len(means) <= MOST_DOTS else (),
        _tail_text(point) if metric.name not in TAILS else "",
    )


def _tail_text(point: Point) -> str:
    """Write the p99 that was measured beside QPS: p99 12.1 ms."""
    names = ((name, spread) for name in TAILS if (spread := point.spread(name)))
    return next((f"{TAILS[name]} {units.latency(spread[0])}" for name, spread in names), "")


def _is_undecided(entry: ArmEntry) -> bool:
    return entry.kind == RATIO and entry.verdict not in (*DIFFERENCES, SAME)


def _note(rows: Sequence[ChartRow], omitted: str) -> str:
    """Explain what these rows have: dots, bars and hollow marks mean the same in all charts."""
    parts = [
        "dots: single loads" if any(row.loads for row in rows) else "",
        BARS if any(row.ends for row in rows) else "",
        "hollow: undecided" if any(row.is_hollow for row in rows) else "",
    ]
    meanings = "; ".join(filter(None, parts))
    return " ".join(filter(None, (f"{meanings[0].upper()}{meanings[1:]}." if meanings else "", omitted)))


def _ratio_rows(candidates: Sequence[ChartPoint]) -> list[ChartRow]:
    rows = []
    for group, arm, _, entry in candidates:
        if entry and entry.kind == RATIO and entry.ratio:
            ends = (entry.interval.low, entry.interval.high) if entry.interval else None
            is_hollow, loads = _is_undecided(entry), entry.interval.ratios if entry.interval else ()
            dots = tuple(loads) if 1 < len(loads) <= MOST_DOTS else ()
            text = units.times(entry.ratio)
            rows.append(ChartRow(group, arm, entry.ratio, text, ends, entry.text, is_hollow, dots))
    return rows


def ratio_chart(report: Report, comparison: Comparison, marks: Marks) -> Chart | None:
    """Draw the ratios of a comparison; many are a heat map."""
    candidates: list[ChartPoint] = []
    has_steps = len(comparison.steps) > 1
    for row, arm, entry, point, _ in comparison.cases():
        if entry.ratio:
            group = comparison.where(row) if has_steps else comparison.point_name(row)
            candidates.append(ChartPoint(group, comparison.arm_name(arm), point, entry))
    if len(candidates) > MOST_RATIOS:
        return heat_map(report, comparison, marks)
    drawn = _ratio_rows(candidates)
    if not drawn:
        return None
    arms = dict.fromkeys(row.arm for row in drawn)
    subject = comparison.metric.heading
    subject = f"{subject} of {next(iter(arms))}" if len(arms) == 1 else subject
    step = f"{comparison.steps[0]}: " if len(comparison.steps) == 1 else ""
    title = f"{step}{subject} relative to {comparison.base}"
    chart = Rows(title, "ratio", drawn, marks, comparison.metric.verdicts)
    wide, narrow = (chart_forms.ratios(chart, report.setup.effect, width) for width in (WIDE, NARROW))
    return Chart(title, wide, narrow, note=_note(drawn, ""))


# Heat map: a row for each point, the worst first, with figure and ratio of each arm

MOST_HEAT_ROWS = 40
HEAT_ROW, HEAT_TOP = 19.0, 20.0  # pixels: a row, and the names of the arms
NAMES = 0.38  # of the width, at most
PALEST, DARKEST = 0.14, 0.5  # how dense a cell is at the smallest effect, and from a factor of 2 on
FILLS = {**dict.fromkeys(verdicts.GOOD, "up"), **dict.fromkeys(verdicts.BAD, "down")}


class HeatCell(NamedTuple):
    arm: str
    ratio: str  # ▼0.31×
    figure: str  # 187
    note: str  # 0.31× [0.30, 0.32] slower
    fill: str = ""
    density: float = 0.0


class HeatRow(NamedTuple):
    name: str
    cells: Sequence[HeatCell]


def heat_map(report: Report, comparison: Comparison, marks: Marks) -> Chart:
    """Draw a row for each point; of too many the ones with the worst and with the best ratios."""
    points = comparison.worst_first()
    drawn, omitted = _choose_rows(points, comparison)
    names = [comparison.base, *comparison.arm_names]
    rows = [HeatRow(_row_name(comparison, row), [*_heat_cells(comparison, row, names)]) for row in drawn]
    first = "the worst" if comparison.metric.better else "the smallest ratio"
    title = f"{comparison.metric.heading} and ratio to {comparison.base}, {first} first"
    note = f"{sentences.legend(report, comparison)}{omitted}"
    return Chart(title, _draw_heat(title, rows, marks, WIDE), _draw_heat(title, rows, marks, NARROW), note=note)


def _choose_rows(points: Sequence[ComparedPoint], comparison: Comparison) -> tuple[Sequence[ComparedPoint], str]:
    """Choose the rows that are drawn, of sorted ones, and say which are not."""
    rated = [row for row in points if any(entry.ratio or entry.is_difference for entry in row.entries[1:])]
    if len(points) <= MOST_HEAT_ROWS:
        return points, ""
    if not rated:
        return points[:MOST_HEAT_ROWS], f" {omission(MOST_HEAT_ROWS, len(points))}"
    half, texts = MOST_HEAT_ROWS // 2, []
    if len(rated) > MOST_HEAT_ROWS:
        ends = ("worst", "best") if comparison.metric.better else ("smallest", "largest")
        texts.append(f"The {half} {ends[0]} and the {half} {ends[1]} of {counted(len(rated), 'row')}")
    if missing := len(points) - len(rated):
        texts.append(f"{counted(missing, 'row')} {'has' if missing == 1 else 'have'} no ratio")
    chosen = rated if len(rated) <= MOST_HEAT_ROWS else [*rated[:half], *rated[-half:]]
    return chosen, f" {'; '.join(texts)}; the table has all."


def _row_name(comparison: Comparison, row: ComparedPoint) -> str:
    name = comparison.where(row) if len(comparison.steps) > 1 else comparison.point_name(row)
    return name or row.step


def _heat_cells(comparison: Comparison, row: ComparedPoint, names: Sequence[str]) -> list[HeatCell]:
    return [_heat_cell(name, entry, comparison) for name, entry in zip(names, row.entries, strict=True)]


def _heat_cell(name: str, entry: ArmEntry, comparison: Comparison) -> HeatCell:
    spread = entry.point.spread(comparison.metric.name) if entry.point else None
    figure = units.short_figure(spread[0], comparison.metric.unit) if spread else ""
    if entry.kind != RATIO or not (entry.ratio or entry.is_difference):
        return HeatCell(name, "", figure or entry.kind, figure or entry.kind)
    before, after = entry.marks
    fill = "" if entry.refusal else FILLS.get(entry.verdict or "", "")
    share = min(1.0, abs(math.log(entry.ratio)) / math.log(2)) if entry.ratio else 1.0
    density = PALEST + (DARKEST - PALEST) * share
    ratio = units.times(entry.ratio) if entry.ratio else ""
    return HeatCell(name, f"{before}{ratio}{after}", figure, entry.text, fill, density)


def _draw_heat(title: str, rows: Sequence[HeatRow], marks: Marks, width: float) -> str:
    """Draw figures and ratios where both have room, and ratios alone, without the base's column, elsewhere."""
    start = min(width * NAMES, drawing.text_width(row.name for row in rows) + 8)
    first = 0 if _has_room(rows, width - start) else 1
    arms = [cell.arm for cell in rows[0].cells[first:]]
    column = (width - start) / len(arms)
    parts = [
        drawing.short_text(
            (start + (index + 0.5) * column, HEAT_TOP - 7),
            short_build(arm) if first else arm,
            column - 4,
            "middle",
            "soft",
        )
        for index, arm in enumerate(arms)
    ]
    for number, row in enumerate(rows):
        y = HEAT_TOP + number * HEAT_ROW
        parts.append(drawing.short_text((0, y + 14), row.name, start - 4))
        for index, cell in enumerate(row.cells[first:]):
            x = start + index * column
            drawn = [drawing.cell((x + 1, y + 0.5), (column - 2, HEAT_ROW - 1), cell.fill, cell.density)]
            words = [cell.ratio] if first and units.TIMES in cell.ratio else [cell.figure, cell.ratio]
            kind = "flat" if cell.fill or not cell.ratio else "flat soft"
            drawn.append(drawing.text((x + column / 2, y + 14), " ".join(filter(None, words)), "middle", kind))
            note = f"{row.name}, {cell.arm}: {cell.figure}{cell.note and f', {cell.note}' if cell.ratio else ''}"
            parts.append(drawing.of_arm(cell.arm, marks[cell.arm], *drawn, title=note))
    return drawing.svg(title, width, HEAT_TOP + len(rows) * HEAT_ROW + 4, *parts)


def _has_room(rows: Sequence[HeatRow], room: float) -> bool:
    texts = (f"{cell.figure} {cell.ratio}" for row in rows for cell in row.cells)
    return room / len(rows[0].cells) > drawing.text_width(texts)


# Searches


def search_charts(searches: Sequence[AxisAnswers], marks: Marks) -> Iterator[Chart]:
    """Draw what each search tried and the figure that it looks at first; hollow where its condition failed."""
    for axis in dict.fromkeys(search.axis for search in searches):
        points = []
        for search in searches if axis.figures else ():
            name = ", ".join(search.labels.values())
            for value, runs in search.curve() if search.axis is axis else ():
                if (figure := mean(runs, axis.figures[0])) is not None:
                    is_good = all(run.metrics.get(HOLDS) == 1.0 for run in runs)
                    points.append(
                        Mark(value, figure, "", name, f"{value:g} {'holds' if is_good else 'fails'}", not is_good)
                    )
        if points:
            arms = dict.fromkeys(point.arm for point in points)
            paths = [[point for point in points if point.arm == arm] for arm in arms]
            axes = Axes(axis.variable, axis.figures[0], has_sizes=axis.param.endswith(units.SIZED))
            yield Chart(axis.title, chart_forms.trade_off(axis.title, axes, points, paths, marks))


MAXIMUM_NOTE = "Vertical line: the maximum without a rate."
HOLLOW_NOTE = "Hollow, at the top: the rate was missed, there is no latency."


def rate_charts(curves: Sequence[RateCurve], marks: Marks) -> Iterator[Chart]:
    """Draw p50 and p99 of each step by the rate that was served, a line for each arm."""
    for title, members in curves_by_title(curves).items():
        limits = [(curve.name, curve.maximum) for curve in members if curve.maximum]
        for percentile in ("p50", "p99"):
            drawn = [(curve, point, point.mean(percentile)) for curve in members for point in curve.points]
            top = max((value for _, _, value in drawn if value), default=0.0)
            spots = [
                Mark(served, value or top, "", curve.name, _rate_text(point, value), value is None)
                for curve, point, value in drawn
                if top and (served := point.served) is not None
            ]
            paths = [[spot for spot in spots if spot.arm == curve.name and not spot.is_hollow] for curve in members]
            metric = members[0].points[0].metric
            axes = Axes(f"{metric} served", f"{percentile}, µs", from_zero=False, limits=limits)
            if any(paths):
                name = f"{title}, {percentile}"
                svg = chart_forms.trade_off(name, axes, spots, [*filter(None, paths)], marks)
                has_hollow = any(spot.is_hollow for spot in spots)
                notes = [*([MAXIMUM_NOTE] if limits else []), *([HOLLOW_NOTE] if has_hollow else [])]
                yield Chart(name, svg, note=" ".join(notes))


def _rate_text(point: RatePoint, latency: float | None) -> str:
    rates = f"{point.label}, {units.short_figure(point.served or 0.0)} of {units.short_figure(point.requested or 0.0)}"
    return f"{rates}, " + ("rate missed" if latency is None else f"{units.short_figure(latency)} µs")


def all_charts(report: Report) -> Iterator[Chart]:
    """Draw every chart of a report, the main one first."""
    marks = drawing.PageMarks()
    yield from filter(None, [main_chart(report, marks)])
    for comparison in report.comparisons.all:
        yield from filter(None, [ratio_chart(report, comparison, marks)])
    for section in report.comparisons.sections:
        for members in step_charts(report, section, marks).values():
            yield from members
    yield from rate_charts(report.comparisons.rates, marks)
    yield from search_charts(report.comparisons.searches, marks)


# A chart as a file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
DENSITY = 2  # pixels of a PNG for each of its chart
BROWSER_SECONDS = 60


def find_chart(report: Report, name: str) -> Chart:
    """Return the chart of that name or title; the main one is `main`."""
    names: list[str] = []
    for chart in all_charts(report):
        if name in (chart.name, chart.title) or (name == "main" and not names):
            return chart
        names.append(chart.name)
    raise NoForm(f"no chart is called {name}; there are: {', '.join(names) or 'none'}")


def svg(report: Report, name: str) -> bytes:
    """Write the form of that name: a picture of a chart."""
    return draw_svg(find_chart(report, name))


def png(report: Report, name: str) -> bytes:
    """Write the form of that name, with a browser of this host."""
    return draw_png(find_chart(report, name))


def draw_svg(chart: Chart) -> bytes:
    return drawing.stand_alone(chart.svg).encode()


def draw_png(chart: Chart) -> bytes:
    picture = drawing.stand_alone(chart.svg)
    browser = find_browser()
    if browser is None:
        raise NoForm("a PNG needs Chromium or Chrome, which this host lacks; write .svg, or use the page's PNG button")
    width, height = (math.ceil(float(side)) for side in re.findall(r' (?:width|height)="([\d.]+)"', picture)[:2])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "chart.svg"
        source.write_text(picture, encoding="utf-8")
        options = [
            *("--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage"),
            *([] if os.geteuid() else ["--no-sandbox"]),  # root's browser starts in no other way
            *(f"--user-data-dir={folder}/profile", f"--force-device-scale-factor={DENSITY}"),
            *(f"--window-size={width},{height}", f"--screenshot={Path(folder) / 'chart.png'}"),
        ]
        process = subprocess.run(
            [browser, *options, source.as_uri()], capture_output=True, timeout=BROWSER_SECONDS, check=False
        )
        image = Path(folder) / "chart.png"
        if not image.is_file():
            raise NoForm(f"{browser} drew nothing (exit status {process.returncode})")
        return image.read_bytes()


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)
