"""Changes of level along versions and days: a ladder of each, where three of its rungs were measured."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from stepgrid.model.metrics import QPS
from stepgrid.model.plan import ALPHA, PlannedAxis
from stepgrid.model.result_schema import PAST_NOISE
from stepgrid.model.table import group
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import ComparedMetric
from stepgrid.summarize.comparisons.conditions import are_most
from stepgrid.summarize.comparisons.judgement import RatioEvidence, idleness, is_within
from stepgrid.summarize.comparisons.ladders import Ladder, LevelChange, RungChange, versions
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import PastFigure, Place, Tables
from stepgrid.summarize.report import GridEvidence
from stepgrid.summarize.statistics.confidence_intervals import Values, log_mean
from stepgrid_answers.levels import MeasuredFigure, changes, quiet_figures

FEWEST_RUNGS = 3  # versions, or days
DATE = "date"


def find_ladders(evidence: GridEvidence) -> Iterator[Ladder]:
    setup, ratios = evidence.setup, evidence.ratios
    points = [point for section in evidence.sections for point in section.points]
    if ladder := version_ladder(setup.axes, points, ratios, setup.metric):
        yield ladder
    if setup.metric.name == QPS and (ladder := date_ladder(setup.axes, points, evidence.tables, ratios)):
        yield ladder


# Versions


def version_ladder(
    axes: Sequence[PlannedAxis], points: Sequence[Point], evidence: RatioEvidence, metric: ComparedMetric
) -> Ladder | None:
    """Look for changes along an axis of versions of one engine; None where no point has three of them."""
    axis = next((axis for axis in axes if len(versions(axis.labels)) >= FEWEST_RUNGS), None)
    if axis is None:
        return None
    order = versions(axis.labels)
    names = tuple(other.name for other in axes if other is not axis and len(other.labels) > 1)
    ladder_changes: list[RungChange] = []
    pairs_by_row: list[set[tuple[str, str]]] = []  # of neighbours that were compared
    for step, step_points in group((point.step, point) for point in points).items():
        rows = group((comparison_axes.key(point, names), point) for point in step_points)
        for labels, members in rows.items():
            pairs = set[tuple[str, str]]()
            for stretch in _stretches(order, axis.name, members, evidence, metric.name):
                rungs = {point.labels[axis.name]: point.values(metric.name) for point in stretch}
                if sum(len(loads) > 1 for loads in rungs.values()) >= FEWEST_RUNGS:
                    first, *_, last = map(order.index, rungs)
                    pairs.update(pairwise(order[first : last + 1]))
                for rung_change in _find_changes(rungs, evidence.effect, ALPHA / len(rows)):
                    after = [point.labels[axis.name] for point in stretch].index(rung_change[0])
                    floor = evidence.floor(stretch[after], stretch[after - 1], axes, metric.name)
                    if not is_within(floor, rung_change[2].ratio):
                        rung, previous, change = rung_change
                        named = change._replace(verdict=metric.word(change.verdict))
                        ladder_changes.append(RungChange(step, labels, rung, previous, named))
            pairs_by_row += [pairs] if len(members) >= FEWEST_RUNGS else []
    if not any(pairs_by_row):
        return None
    ladder_changes.sort(key=lambda change: order.index(change.rung))
    idle = tuple(
        f"`{point.labels.get(axis.name)}`, {_point_text(point, names)}: {zeros}"
        for point in points
        if (
            zeros := idleness(point, point, metric.name).partition("; ")[0]
            or evidence.disturbance(metric.name, (point,))
        )
    )
    spans = _spans(order, set.intersection(*pairs_by_row))
    return Ladder(axis.name, order, names, tuple(ladder_changes), metric, idle=idle, spans=spans)


def _spans(order: Sequence[str], pairs: set[tuple[str, str]]) -> tuple[str, ...]:
    """Join neighbours that were compared to the longest spans, as text."""
    ends: list[tuple[str, str]] = []
    for before, after in pairwise(order):
        if (before, after) not in pairs:
            continue
        if ends and ends[-1][1] == before:
            ends[-1] = ends[-1][0], after
        else:
            ends.append((before, after))
    return tuple(f"{first} to {last}" for first, last in ends)


def _stretches(
    order: Sequence[str], axis: str, points: Sequence[Point], evidence: RatioEvidence, metric: str
) -> Iterator[list[Point]]:
    """Split versions where one may not be compared with the one before, or a load of it has a figure of 0."""
    by_version: Mapping[str | None, Point] = {point.labels.get(axis): point for point in points if point.values(metric)}
    stretch: list[Point] = []
    for point in (by_version[version] for version in order if version in by_version):
        is_idle = bool(idleness(point, point, metric) or evidence.disturbance(metric, (point,)))
        if stretch and (is_idle or evidence.refuse(point, stretch[-1], metric) or evidence.shipped(point, stretch[-1])):
            yield stretch
            stretch = []
        if not is_idle:
            stretch.append(point)
    yield stretch


def _find_changes(
    rungs: Mapping[str, Values], effect: float, alpha: float
) -> Iterator[tuple[str, tuple[str, str], LevelChange]]:
    """Yield the first rung of a new level, and the first and the last one of the level before it."""
    names, loads = list(rungs), sorted({load for figures in rungs.values() for load in figures})
    grid = np.array([[log_mean(figures.get(load, ())) for load in loads] for figures in rungs.values()])
    for change in (changes(grid, effect, alpha) or ()) if len(names) >= FEWEST_RUNGS else ():
        yield names[change.at], (names[change.before], names[change.at - 1]), change


def _point_text(point: Point, names: Sequence[str]) -> str:
    """Name a point: `readww, cache=lru`."""
    return ", ".join(filter(None, (point.step, comparison_axes.words(comparison_axes.key(point, names), names))))


# Days: stages that were measured again

Days = Mapping[str, Values]  # QPS


def date_ladder(
    axes: Sequence[PlannedAxis], points: Iterable[Point], tables: Tables, evidence: RatioEvidence
) -> Ladder | None:
    """Look for changes of QPS from day to day on the hosts of the plan; None where no point has three days."""
    names = tuple(axis.name for axis in axes if len(axis.labels) > 1)
    hosts = {facts.get("hostname") for facts in tables.facts.get("host", {}).values()}
    past = group((figure.place, figure) for figure in tables.history if figure.host in hosts)
    noise = {**tables.facts.get("noise", {}), **tables.facts.get(PAST_NOISE, {})}
    disturbed = {subject for subject, facts in noise.items() if "warning" in facts}
    usable, idle = [], []
    for point in points:
        days, busy = _days(point, past, disturbed)
        idle += (
            [f"{_point_text(point, names)}: others used the host in most loads on {', '.join(busy)}"] if busy else []
        )
        if zeros := [day for day, loads in days.items() if any(min(figures) <= 0 for figures in loads.values())]:
            idle.append(f"{_point_text(point, names)}: a load did nothing (0 QPS) on {', '.join(zeros)}")
        else:
            usable.append((point, days))
    long = [(point, days) for point, days in usable if len(days) >= FEWEST_RUNGS]
    if not long:
        return None
    ladder_changes: list[RungChange] = []
    for point, days in long:
        floor, labels = evidence.floor(point, point, axes), comparison_axes.key(point, names)
        found_changes = _find_changes(days, evidence.effect, ALPHA / len(long))
        ladder_changes += [
            RungChange(point.step, labels, *change) for change in found_changes if not is_within(floor, change[2].ratio)
        ]
    ladder_changes.sort(key=lambda change: change.rung)
    rungs = sorted({day for _, days in usable for day in days})
    spans = (f"{rungs[0]} to {rungs[-1]}",)
    return Ladder(DATE, tuple(rungs), names, tuple(ladder_changes), noun=DATE, idle=tuple(idle), spans=spans)


def _days(
    point: Point, past: Mapping[Place, Sequence[PastFigure]], disturbed: Collection[str]
) -> tuple[Days, Sequence[str]]:
    """Give the figures of each day, and the days that decide nothing."""
    figures = [
        (run.place, run.attempt, run.load, run.metrics[QPS]) for run in point.runs if run.attempt and QPS in run.metrics
    ]
    figures += [
        (run.place, figure.attempt, run.load, figure.qps) for run in point.runs for figure in past.get(run.place, ())
    ]
    by_day = group(
        # an attempt begins with its day, UTC: 20261120T101500.000000Z
        (f"{time[:4]}-{time[4:6]}-{time[6:8]}", MeasuredFigure(load, qps, f"{stage}/{time}" in disturbed))
        for (stage, _), time, load, qps in figures
    )
    days, busy = {}, []
    for day in sorted(by_day):
        values, loads = quiet_figures(by_day[day])
        if are_most(loads, values):
            busy.append(day)
        else:
            days[day] = values
    return days, busy
