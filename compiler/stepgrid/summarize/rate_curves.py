"""Latency at several rates of a step: what each arm was asked for, what it served, and how long answers took."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from stepgrid.collect.step_figures import MET, SHARE_PCT, TRIED
from stepgrid.model import units
from stepgrid.model.figures import decimal
from stepgrid.model.status import Status
from stepgrid.model.table import NOTHING, Cell, Column, Table, group
from stepgrid.plugins.driver import TARGET
from stepgrid.summarize.comparisons.comparison import ComparedMetric, figure_text
from stepgrid.summarize.data.points import Point, SearchedAxis
from stepgrid.summarize.data.tables_reader import Run

FEWEST_RATES, UNEQUAL = 2, 1.05
INSERTS = "inserts_per_s"
EQUAL_SHARES = "arms are compared at equal shares of their own maximum, not at equal rates"
MISSED = "missed: in so many of the loads the clients did not keep up with the rate; no latency is shown but of service"
FAILED = "failed: so many loads have no figures; the others may not be what all would have shown"


class RatePoint(Struct, frozen=True, dict=True):
    """Runs of an arm at one rate, or at one share of what each load has reached."""

    label: str
    metric: str  # of the rate that is served
    point: Point

    @cached_property
    def requested(self) -> float | None:
        return self.figure(TARGET + self.metric)

    @cached_property
    def served(self) -> float | None:
        return self.figure(self.metric)

    def figure(self, metric: str) -> float | None:
        means = self.point.means(metric)
        return units.mean(means) if means else None

    @cached_property
    def missed_loads(self) -> int:
        return len({run.load for run in self.point.missed_runs})

    @cached_property
    def failed_loads(self) -> int:
        return len({run.load for run in self.point.runs if run.status == Status.FAILED})

    def latency(self, name: str) -> ComparedMetric | None:
        """Return the metric of a percentile, if there is a figure of it: not where the rate was missed."""
        metric = f"insert_{name}_us" if self.metric == INSERTS else f"{name}_us"
        return ComparedMetric(metric, "us", "lower") if not self.missed_loads and self.point.means(metric) else None

    def mean(self, name: str) -> float | None:
        metric = self.latency(name)
        return self.figure(metric.name) if metric else None


class RateCurve(Struct, frozen=True, dict=True):
    """The rates of a step in one arm, lowest first."""

    step: str
    axis: str
    labels: Mapping[str, str]  # that tell it from the other curves of the step
    points: tuple[RatePoint, ...]

    @property
    def title(self) -> str:
        return f"{self.step}: latency by {self.axis}"

    @property
    def name(self) -> str:
        return ", ".join(self.labels.values()) or self.step

    @cached_property
    def maximum(self) -> float | None:
        """The rate that was reached without a target, of points that are a share of it."""
        shares = [(point.requested, percent) for point in self.points if (percent := point.point.means(SHARE_PCT))]
        return next(
            (requested * 100 / units.mean(percent) for requested, percent in reversed(shares) if requested), None
        )


def find_rate_curves(axes: Sequence[SearchedAxis], runs: Iterable[Run]) -> Iterator[RateCurve]:
    """Yield a curve for each step and arm that has several rates."""
    steps = group((run.step, run) for run in runs if run.measured)
    for step, all_runs in steps.items():
        members = [run for run in all_runs if any(map(_is_target, run.metrics))]
        searched = [axis.variable for axis in axes if axis.step == step]
        names = dict.fromkeys(name for run in members for name in run.labels)
        axis = next((name for name in names if _has_rates(name, members, searched)), None)
        if axis is None:
            continue
        targets = dict.fromkeys(name for run in members for name in run.metrics if _is_target(name))
        most = max(targets, key=lambda target: len({run.metrics.get(target) for run in members}))
        metric = most.removeprefix(TARGET)
        failed = [run for run in all_runs if run.status == Status.FAILED and axis not in searched]
        arms = _arms(axis, [*members, *failed])
        same = set.intersection(*({*labels} for labels in arms))
        for labels, arm_runs in arms.items():
            points = sorted(_points(metric, axis, arm_runs), key=lambda point: point.requested or math.inf)
            if len(points) >= FEWEST_RATES:
                yield RateCurve(step, axis, dict(pair for pair in labels if pair not in same), tuple(points))


def curves_by_title(curves: Iterable[RateCurve]) -> Mapping[str, Sequence[RateCurve]]:
    return group((curve.title, curve) for curve in curves)


def _is_target(metric: str) -> bool:
    return metric.startswith(TARGET) and metric != MET


def _has_rates(axis: str, runs: Sequence[Run], searched: Sequence[str]) -> bool:
    """Tell whether an axis has the rates of a step: shares of a maximum, or targets that differ along it."""
    shares = [run for run in runs if SHARE_PCT in run.metrics]
    if shares:
        percentages = [
            decimal(run.labels.get(axis, "").rpartition("% of ")[0]) for run in shares
        ]  # a client may round it
        return all(0.5 < share / run.metrics[SHARE_PCT] < 1.5 for share, run in zip(percentages, shares, strict=True))
    return (axis in searched or axis.endswith("rate")) and any(map(_has_several_rates, _arms(axis, runs).values()))


def _has_several_rates(runs: Sequence[Run]) -> bool:
    """Tell whether targets differ by more than what random arrivals differ by."""
    targets = group((name, run.metrics[name]) for run in runs for name in run.metrics if _is_target(name))
    return any(max(rates) > UNEQUAL * min(rates) for rates in targets.values())


def _arms(axis: str, runs: Iterable[Run]) -> Mapping[tuple[tuple[str, str], ...], Sequence[Run]]:
    """Group the runs that have the axis by their other labels."""
    having = (run for run in runs if axis in run.labels)
    return group((tuple(pair for pair in run.labels.items() if pair[0] != axis), run) for run in having)


def _points(metric: str, axis: str, runs: Sequence[Run]) -> Iterator[RatePoint]:
    usable = [run for run in runs if run.status == Status.FAILED or {metric, TARGET + metric} <= {*run.metrics}]

    def label(run: Run) -> str:
        is_search = TRIED in run.metrics and SHARE_PCT not in run.metrics
        return f"{run.metrics[TRIED]:g}" if is_search else run.labels[axis]

    for text, members in group((label(run), run) for run in usable).items():
        yield RatePoint(text, metric, Point(members[0].step, {axis: text}, tuple(members)))


def rate_tables(curves: Sequence[RateCurve]) -> Iterator[Table]:
    """Make a table for each step: rates that were asked for and served, and the latency there."""
    for title, members in curves_by_title(curves).items():
        names = list(dict.fromkeys(name for curve in members for name in curve.labels))
        heads = [*names, members[0].axis]
        unit = members[0].points[0].metric
        figures = ["asked", f"served ({unit})", "p50 (µs)", "p99 (µs)", "service p99 (µs)", "missed"]
        rows = [
            tuple(map(Cell, (*(curve.labels.get(name, NOTHING) for name in names), *_row(point))))
            for curve in members
            for point in curve.points
        ]
        maxima = [f"{curve.name} {units.short_figure(curve.maximum)}" for curve in members if curve.maximum]
        notes = [f"maximum without a rate: {', '.join(maxima)}", EQUAL_SHARES] if maxima else []
        points = [point for curve in members for point in curve.points]
        notes += [MISSED] if any(point.missed_loads for point in points) else []
        notes += [FAILED] if any(point.failed_loads for point in points) else []
        columns = (*(Column(name, label=True) for name in heads), *map(Column, figures))
        yield Table(title, columns, tuple(rows), notes=tuple(notes))


def _row(point: RatePoint) -> tuple[str, ...]:
    metrics = [point.latency(name) for name in ("p50", "p99")]
    latencies = [figure_text(point.point, metric) if metric else NOTHING for metric in metrics]
    missed = [f"{point.missed_loads} of {point.point.loads[0]}"] if point.missed_loads else []
    failed = [f"{point.failed_loads} failed"] if point.failed_loads else []
    return (
        point.label,
        *(_figure(value) for value in (point.requested, point.served)),
        *latencies,
        _figure(point.figure("service_p99_us")),
        ", ".join(missed + failed) or NOTHING,
    )


def _figure(value: float | None) -> str:
    return NOTHING if value is None else units.short_figure(value)
