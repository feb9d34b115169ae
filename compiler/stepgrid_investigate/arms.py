"""The cells of a step that are compared as one: with figures, of the same work, and meeting a condition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepgrid.model import units
from stepgrid.model.status import Status
from stepgrid.model.units import counted
from stepgrid.plan import expectations
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import GridEvidence

MOST_NAMED = 4
OPEN = (Status.MISSING, Status.RUNNING, Status.WAITING, Status.INTERRUPTED)
_LIMIT = re.compile(r"(\w+)\s*([<>])=?\s*[\w.]+")


class Arms(NamedTuple):
    """The points of a step that are compared, by name, and why the others are not."""

    points: Mapping[str, Point]
    base: str | None
    notes: tuple[str, ...]
    is_busy: bool  # others used the host in most loads, which no interval covers

    @property
    def caution(self) -> str:
        return "perhaps (host busy): " if self.is_busy else ""


def comparable_arms(
    evidence: GridEvidence, section: StepPoints, metrics: Sequence[str], where: str | None = None
) -> Arms:
    """Select points with figures above 0 that did the work of the base, or of the first one, and meet the condition."""
    labels = {axis.name: evidence.setup.base.get(axis.name, axis.labels[0]) for axis in section.axes if axis.labels}
    names = {id(point): section.point_name(point) for point in section.points}
    base = next((point for point in section.points if point.labels == labels), None)
    reference = base if base and base.values(metrics[0]) else next(iter(section.points), None)
    reasons: dict[str, list[str]] = {}
    points: dict[str, Point] = {}
    for point in section.points:
        reason = _reason(evidence, point, reference, metrics, where)
        if reason:
            reasons.setdefault(reason, []).append(names[id(point)])
        else:
            points[names[id(point)]] = point
    notes = [
        f"{counted(len(members), 'cell')} left out: {reason}: {listed(members)}" for reason, members in reasons.items()
    ]
    name = names.get(id(base))
    is_busy = bool(points) and bool(evidence.ratios.disturbance(metrics[0], tuple(points.values())))
    return Arms(points, name if name in points else None, tuple(notes), is_busy)


def _reason(
    evidence: GridEvidence, point: Point, reference: Point | None, metrics: Sequence[str], where: str | None
) -> str:
    """Say why a point takes no part."""
    values = [runs for metric in metrics for runs in point.values(metric).values()]
    if not all(point.values(metric) for metric in metrics):
        return point.status if point.status != Status.DONE else f"it has no {' and no '.join(metrics)}"
    if any(value <= 0 for runs in values for value in runs):
        return "a figure is 0 or below"
    if point is not reference and reference and (refusal := evidence.ratios.refusal(point, reference)):
        return refusal
    return _voided(evidence, point, where) if where else ""


def _voided(evidence: GridEvidence, point: Point, where: str) -> str:
    """A condition holds of a cell if it holds in each of its loads; it may be about figures of its other steps."""
    for figures in _figures_by_load(evidence, point):
        verdict = expectations.holds(where, figures)
        if not verdict:
            return f"`{where}` is not met" if verdict is False else f"`{where}` names a figure that is missing"
    return ""


def _figures_by_load(evidence: GridEvidence, point: Point) -> Iterator[dict[str, Any]]:
    kin = [
        other
        for section in evidence.sections
        for other in section.points
        if other.labels.items() <= point.labels.items() and other.step != point.step
    ]
    for load in point.values():
        figures: dict[str, Any] = {}
        for other in (*kin, point):
            for run in other.runs:
                figures |= run.metrics if run.load == load else {}
        yield {**figures, **point.labels}


def nearest_miss(evidence: GridEvidence, arms: Arms, where: str) -> str:
    """Name the cell that comes nearest to a condition of one figure and its limit; empty of other conditions."""
    match = _LIMIT.fullmatch(where.strip())
    name, sign = match.groups() if match else ("", "")
    best, worst = (min, max) if sign == "<" else (max, min)
    values = {
        arm: worst(figures[name] for figures in _figures_by_load(evidence, point))
        for arm, point in arms.points.items()
        if all(isinstance(figures.get(name), float) for figures in _figures_by_load(evidence, point))
    }
    if not values:
        return ""
    nearest = best(values, key=lambda arm: values[arm])
    return (
        f"; {nearest} comes nearest: {name} {units.short_figure(values[nearest], evidence.tables.units.get(name, ''))}"
    )


def listed(names: Sequence[str]) -> str:
    return "; ".join(units.first(names, MOST_NAMED))
