"""Charts of a whole report: ratios of each comparison, a map of many arms, the curves of searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.collect.step_figures import HOLDS
from stepgrid.model.search import SIZED
from stepgrid.summarize.charts import forms
from stepgrid.summarize.charts.forms import MapCell, Mark, Plane, Ratio
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.comparisons.comparison import RATIO, Comparison, Entry
from stepgrid.summarize.data.searches import Search, SearchedAxis, mean
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_tables import search_title
from stepgrid.summarize.statistics.verdicts import DIFFERENCES, VERDICTS

MOST_RATIOS = 150  # more are no picture, and stay in the tables
FEWEST_ARMS, MOST_CELLS = 6, 1500  # of a map


def ratio_charts(report: Report, comparison: Comparison) -> Iterator[Picture]:
    """Draw the ratios of each step of a comparison; none where there are too many."""
    for step in comparison.steps:
        rows = [
            Ratio(
                comparison.point_name(case.row) or step,
                comparison.arm_name(case.arm),
                case.entry.ratio,
                (case.entry.interval.low, case.entry.interval.high) if case.entry.interval else None,
                case.entry.verdict in VERDICTS,
            )
            for case in comparison.cases()
            if case.row.step == step and case.entry.ratio
        ]
        if 0 < len(rows) <= MOST_RATIOS:
            names = {row.arm for row in rows}
            arms = [arm for arm in comparison.arm_names if arm in names]
            metric = comparison.metric.title
            subject = f"{metric} of {arms[0]}" if len(arms) == 1 else metric
            title = f"{step}: {subject} relative to {comparison.base}"
            yield Picture(title, forms.ratios(title, rows, arms, report.setup.effect))


def map_chart(overview: Comparison) -> Picture | None:
    """Draw all ratios to a base as a map, where there are many arms."""
    if len(overview.arm_names) < FEWEST_ARMS or not 1 < len(overview.rows) * len(overview.arm_names) <= MOST_CELLS:
        return None
    title = f"{overview.metric.title} relative to {overview.base}, all arms"
    rows = [
        (
            ", ".join(filter(None, (row.step, overview.point_name(row)))),
            list(map(_map_cell, row.entries[1:])),
        )
        for row in overview.rows
    ]
    return Picture(title, forms.heat_map(title, overview.arm_names, rows))


def _map_cell(entry: Entry) -> MapCell | None:
    return MapCell(entry.ratio, entry.verdict in DIFFERENCES) if entry.kind == RATIO and entry.ratio else None


def search_charts(searches: Sequence[Search]) -> Iterator[Picture]:
    """Draw what each search tried and the figure that it looks at first; hollow where its condition failed."""
    for axis in dict.fromkeys(search.axis for search in searches):
        arms = [search for search in searches if search.axis is axis]
        names = [", ".join(search.labels.values()) for search in arms]
        marks = [mark for arm, search in enumerate(arms) for mark in _tried(axis, search, arm, names[arm])]
        if marks:
            title = search_title(axis)
            paths = [[mark for mark in marks if mark.arm == arm] for arm in range(len(arms))]
            plane = Plane(axis.variable, axis.figures[0], axis.param.endswith(SIZED))
            yield Picture(title, forms.marks(title, plane, marks, list(filter(None, paths)), names))


def _tried(axis: SearchedAxis, search: Search, arm: int, name: str) -> Iterator[Mark]:
    for value, runs in search.curve() if axis.figures else ():
        figure = mean(runs, axis.figures[0])
        if figure is not None:
            holds = all(run.metrics.get(HOLDS) == 1.0 for run in runs)
            yield Mark(value, figure, f"{name} {value}: {'holds' if holds else 'fails'}".strip(), arm, not holds)
