"""The stages that a comparison's figures come from: a cell's, and those of the base that it is held against. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from stepgrid.model.plan import Axis, CellStep, Plan, PlannedCell
from stepgrid.model.units import duration
from stepgrid.plan.arms import BUILD as BUILD
from stepgrid.plan.arms import arms

Key = tuple[str, int, int, tuple[tuple[str, str | None], ...]]  # step, load, run, labels on the axes that touch it


def chosen(axes: Sequence[Axis], base: Mapping[str, str]) -> dict[str, str]:
    """The report's base; without one, the first label of the first axis that varies, builds last."""
    if known := {axis.name: base[axis.name] for axis in axes if axis.name in base}:
        return known
    varying = [axis for axis in axes if len(axis.labels) > 1]
    first = next((axis for axis in varying if axis.name != BUILD), next(iter(varying), None))
    return {first.name: first.labels[0]} if first else {}


def bases(plan: Plan) -> dict[str, set[str]]:
    """Stage -> the stages of its base: those that measure the same step, all other axes equal."""
    said = {"base": plan.report.base, "tables": plan.report.tables, "claims": plan.report.claims}
    axes = arms(plan.axes, [cell.labels for cell in plan.cells], said)
    base = chosen(axes, plan.report.base)
    measured = dict(_measured(plan, axes))
    found: dict[str, set[str]] = defaultdict(set)
    for key, stage in measured.items():
        against = measured.get(_at(key, base))
        if against not in (None, stage):
            found[stage].add(str(against))
    return found


def due(plan: Plan, running: Collection[str], measured: Mapping[str, datetime], now: datetime) -> dict[str, str]:
    """Base stages to measure again beside what is about to run, and why: their results are too old to compare with.

    `measured`: when the result that counts was measured, of the stages that have one.
    """
    if plan.report.within is None or not running:
        return {}
    found = {}
    for stage, against in bases(plan).items():
        for base in against - {*running} if stage in running else ():
            age = (now - measured[base]).total_seconds() if base in measured else 0.0
            if age > plan.report.within:
                found[base] = f"compare_within: the base was measured more than {duration(plan.report.within)} ago"
    return found


def _measured(plan: Plan, axes: Sequence[Axis]) -> Iterator[tuple[Key, str]]:
    for cell in plan.cells:
        for step in cell.steps:
            labels = _labels(axes, cell, step) if step.measured else ()
            for repeat in cell.repeats if step.measured else ():
                yield (step.name, repeat.load, repeat.run, labels), repeat.stages[step.stage]


def _labels(axes: Sequence[Axis], cell: PlannedCell, step: CellStep) -> tuple[tuple[str, str | None], ...]:
    touching = [axis for axis in axes if axis.steps is None or (step.step or step.name) in axis.steps]
    return tuple((axis.name, cell.labels.get(axis.name, step.variables.get(axis.name))) for axis in touching)


def _at(key: Key, base: Mapping[str, str]) -> Key:
    step, load, run, labels = key
    return step, load, run, tuple((axis, base.get(axis, label)) for axis, label in labels)
