"""Points that make no difference: an axis whose points resolve alike in every cell compares nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from compiler.expand.axes import Axis, Point
from compiler.language.problem import Problems
from compiler.plan.model import PlannedCell


def check(axes: Sequence[Axis], cells: Sequence[PlannedCell], problems: Problems) -> None:
    for axis in axes:
        groups: dict[frozenset[tuple[tuple[str, ...], tuple[str, ...]]], list[Point]] = defaultdict(list)
        by_label = _chains(axis.name, cells)
        for point in axis.points:
            groups[frozenset(by_label.get(point.label, {}).items())].append(point)
        for same in groups.values():
            if len(same) > 1 and by_label.get(same[0].label):
                _report(axis, same, problems)


def _chains(axis: str, cells: Sequence[PlannedCell]) -> Mapping[str, dict[tuple[str, ...], tuple[str, ...]]]:
    """For each label: the other labels of a cell -> its stages."""
    found: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = defaultdict(dict)
    for cell in cells:
        if axis in cell.labels:
            others = tuple(f"{name}={label}" for name, label in sorted(cell.labels.items()) if name != axis)
            found[cell.labels[axis]][others] = cell.repeats[0].stages
    return found


def _report(axis: Axis, points: Sequence[Point], problems: Problems) -> None:
    names = " and ".join(f"`{point.label}`" for point in points)
    hint = "something later sets it again (a step's options), or the steps that the axis changes do not use it"
    problems.add("points-alike", points[-1].where, f"{names} of axis `{axis.name}` are the same in every cell", hint)
