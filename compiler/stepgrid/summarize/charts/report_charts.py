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
from typing import TypeAlias

from stepgrid.collect.step_figures import HOLDS
from stepgrid.host.files import replacing, write_text
from stepgrid.model import units
from stepgrid.model.search import SIZED
from stepgrid.summarize.charts import drawing, forms
from stepgrid.summarize.charts.drawing import NARROW, WIDE, Marks
from stepgrid.summarize.charts.forms import Axes, Mark, Row, Rows
from stepgrid.summarize.charts.step_charts import MOST_ROWS, Chart, arrange, omission, step_charts
from stepgrid.summarize.comparisons.comparison import RATIO, Comparison, Entry
from stepgrid.summarize.data.searches import Search, mean
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_tables import search_title
from stepgrid.summarize.statistics.verdicts import VERDICTS

MOST_RATIOS = 16  # rows of a chart of ratios

# Figures and ratios


Pair: TypeAlias = tuple[Row, Row | None]  # a figure, and its ratio to the base


def main_chart(report: Report, marks: Marks) -> Chart | None:
    """Draw the figures of what the first comparison compares, with views of another scale and of its ratios."""
    comparison, metric = next(iter(report.comparisons.all), None), report.setup.metric
    groups = _figure_groups(report, comparison)
    if not groups:
        return None
    steps = list(dict.fromkeys(step for step, _ in groups))
    title = f"{metric.title} of {steps[0]}" if len(steps) == 1 else metric.title
    chosen = _most_different([*groups.values()])
    figures = Rows(title, metric.title, [row for row, _ in chosen], marks)
    is_log = drawing.is_wide([row.value for row in figures.rows])
    other_scale = [forms.figures(figures, width, not is_log) for width in (WIDE, NARROW)]
    views = {"linear" if is_log else "log": other_scale}
    ratios = [ratio for _, ratio in chosen if ratio]
    if ratios and comparison:
        relative = Rows(f"{title} relative to {comparison.base}", "ratio", ratios, marks, metric.verdicts)
        views["ratio"] = [forms.ratios(relative, report.setup.effect, width) for width in (WIDE, NARROW)]
    loads, total = report.setup.loads[1], sum(map(len, groups.values()))
    bars = f"Median of {loads} loads; the bar spans the lowest and the highest." if loads > 1 else ""
    note = " ".join(filter(None, (bars, omission(len(chosen), total, bool(ratios)))))
    return Chart(title, forms.figures(figures), forms.figures(figures, NARROW), views, note)


def _figure_groups(report: Report, comparison: Comparison | None) -> dict[tuple[str, str], list[Pair]]:
    """Collect the figures by step and group; of all steps where nothing is compared."""
    metric = report.setup.metric
    entries = {(case.row.step, case.point.places): case.entry for case in comparison.cases()} if comparison else {}
    sections = [
        section for section in report.comparisons.sections if comparison is None or section.step in comparison.steps
    ]
    groups: dict[tuple[str, str], list[Pair]] = {}
    for section in sections:
        arranged = arrange(report, section)
        for point in arranged.points:
            if spread := point.spread(metric.name):
                entry = entries.get((section.step, point.places))
                group = ", ".join(filter(None, (section.step if len(sections) > 1 else "", arranged.group(point))))
                ends = (spread[1], spread[2]) if point.loads[0] > 1 else None
                text, note = units.figure(spread[0], metric.unit), entry_text(entry) if entry else ""
                row = Row(group, arranged.arm(point), spread[0], text, ends, note)
                ratio = _ratio_row(group, row.arm, entry) if entry else None
                groups.setdefault((section.step, group), []).append((row, ratio))
    return groups


def _most_different(groups: Sequence[list[Pair]], most: int = MOST_ROWS) -> list[Pair]:
    """Choose groups, and of a long one its arms, by their ratios, and keep their order."""
    if sum(map(len, groups)) <= most:
        return [pair for group in groups for pair in group]
    ranked = sorted(range(len(groups)), key=lambda number: -max(map(_size, groups[number])))
    chosen: set[int] = set()
    for number in ranked:
        if not chosen or sum(len(groups[other]) for other in {*chosen, number}) <= most:
            chosen.add(number)
    pairs = [pair for number in sorted(chosen) for pair in groups[number]]
    if len(pairs) <= most:
        return pairs
    first = [number for number, (_, ratio) in enumerate(pairs) if ratio is None][:1]  # the base
    largest = sorted(range(len(pairs)), key=lambda number: -_size(pairs[number]))
    return [pairs[number] for number in sorted(dict.fromkeys([*first, *largest][:most]))]


def _size(pair: Pair) -> float:
    ratio = pair[1]
    return abs(math.log(ratio.value)) / (1 + ratio.is_hollow) if ratio and ratio.value > 0 else 0.0


def _ratio_row(group: str, arm: str, entry: Entry) -> Row | None:
    if entry.kind != RATIO or not entry.ratio:
        return None
    ends = (entry.interval.low, entry.interval.high) if entry.interval else None
    is_hollow = entry.verdict not in VERDICTS
    return Row(group, arm, entry.ratio, units.times(entry.ratio), ends, entry_text(entry), is_hollow)


def entry_text(entry: Entry) -> str:
    """Write a ratio with its interval and verdict: 0.07× [0.06, 0.08] slower."""
    if entry.kind != RATIO or entry.ratio is None:
        return ""
    ratio = units.times(entry.ratio)
    if entry.interval:
        ratio = units.ratio_with_interval(entry.ratio, entry.interval.low, entry.interval.high, units.TIMES)
    return f"{ratio} {entry.verdict}" if entry.verdict in VERDICTS else ratio


def ratio_chart(report: Report, comparison: Comparison, marks: Marks) -> Chart | None:
    """Draw the ratios of a comparison, of many those that differ most."""
    groups: dict[str, list[Pair]] = {}
    for case in comparison.cases():
        group = comparison.where(case.row) if len(comparison.steps) > 1 else comparison.point_name(case.row)
        if row := _ratio_row(group, comparison.arm_name(case.arm), case.entry):
            groups.setdefault(group, []).append((row, row))
    if not groups:
        return None
    drawn = [row for row, _ in _most_different([*groups.values()], MOST_RATIOS)]
    arms = dict.fromkeys(row.arm for row in drawn)
    subject = f"{comparison.metric.title} of {next(iter(arms))}" if len(arms) == 1 else comparison.metric.title
    step = f"{comparison.steps[0]}: " if len(comparison.steps) == 1 else ""
    title = f"{step}{subject} relative to {comparison.base}"
    chart = Rows(title, "ratio", drawn, marks, comparison.metric.verdicts)
    wide, narrow = (forms.ratios(chart, report.setup.effect, width) for width in (WIDE, NARROW))
    return Chart(title, wide, narrow, note=omission(len(drawn), sum(map(len, groups.values()))))


def search_charts(searches: Sequence[Search], marks: Marks) -> Iterator[Chart]:
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
            title = search_title(axis)
            arms = dict.fromkeys(point.arm for point in points)
            paths = [[point for point in points if point.arm == arm] for arm in arms]
            axes = Axes(axis.variable, axis.figures[0], has_sizes=axis.param.endswith(SIZED))
            yield Chart(title, forms.trade_off(title, axes, points, paths, marks))


def all_charts(report: Report) -> Iterator[Chart]:
    """Draw every chart of a report, the main one first."""
    marks = drawing.PageMarks()
    yield from filter(None, [main_chart(report, marks)])
    for comparison in report.comparisons.all:
        yield from filter(None, [ratio_chart(report, comparison, marks)])
    for section in report.comparisons.sections:
        for members in step_charts(report, section, marks).values():
            yield from members
    yield from search_charts(report.comparisons.searches, marks)


# A chart as a file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
DENSITY = 2  # pixels of a PNG for each of its chart
BROWSER_SECONDS = 60


class NoPicture(Exception):
    """A chart that this host cannot write."""


def find_chart(report: Report, name: str) -> Chart:
    """Return the chart of that name or title; the main one is `main`."""
    names: list[str] = []
    for chart in all_charts(report):
        if name in (chart.name, chart.title) or (name == "main" and not names):
            return chart
        names.append(chart.name)
    raise NoPicture(f"no chart is called {name}; there are: {', '.join(names) or 'none'}")


def save_chart(chart: Chart, path: Path) -> None:
    """Write a chart as .svg, or with a browser of this host as .png."""
    if path.suffix not in (".svg", ".png"):
        raise NoPicture(f"{path}: a chart is written as .svg or .png")
    picture = drawing.stand_alone(chart.svg)
    if path.suffix == ".svg":
        write_text(path, picture)
        return
    browser = find_browser()
    if browser is None:
        raise NoPicture(
            "a PNG needs Chromium or Chrome, which this host lacks; write .svg, or use the page's PNG button"
        )
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
            raise NoPicture(f"{browser} drew nothing (exit status {process.returncode})")
        with replacing(path) as target:
            shutil.copyfile(image, target)


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)
