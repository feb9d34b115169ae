"""Points that make no difference: an axis whose points resolve alike in every cell compares nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from stepgrid.expand.axes import Axis, Point
from stepgrid.language.problems import Problems
from stepgrid.model.plan import PlannedCell

Chain: TypeAlias = tuple[str, ...]
Others: TypeAlias = frozenset[tuple[str, str]]  # a cell's labels on the other axes


def check(axes: Sequence[Axis], cells: Sequence[PlannedCell], problems: Problems) -> None:
    unlike = _unlike(cells)
    for axis in axes:
        different = {cell.labels.get(axis.name) for cell in unlike}
        points = [point for point in axis.points if point.label not in different]
        if len(points) > 1:
            _check(axis, points, cells, problems)


def _unlike(cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    """Cells whose stages no other cell has: nothing is like their points."""
    counts = Counter(cell.repeats[0].stages for cell in cells)
    return [cell for cell in cells if counts[cell.repeats[0].stages] == 1]


def _check(axis: Axis, points: Iterable[Point], cells: Sequence[PlannedCell], problems: Problems) -> None:
    groups: dict[frozenset[tuple[Others, Chain]], list[Point]] = defaultdict(list)
    by_label = _chains(axis.name, cells)
    for point in points:
        groups[frozenset(by_label.get(point.label, {}).items())].append(point)
    for same in groups.values():
        if len(same) > 1 and by_label.get(same[0].label):
            _report(axis, same, problems)


def _chains(axis: str, cells: Iterable[PlannedCell]) -> Mapping[str, dict[Others, Chain]]:
    """For each label: the other labels of a cell -> its stages."""
    found: dict[str, dict[Others, Chain]] = defaultdict(dict)
    for cell in cells:
        if axis in cell.labels:
            others = frozenset((name, label) for name, label in cell.labels.items() if name != axis)
            found[cell.labels[axis]][others] = cell.repeats[0].stages
    return found


def _report(axis: Axis, points: Sequence[Point], problems: Problems) -> None:
    names = " and ".join(f"`{point.label}`" for point in points)
    hint = "something later sets it again (a step's options), or the steps that the axis changes do not use it"
    problems.add("points-alike", points[-1].where, f"{names} of axis `{axis.name}` are the same in every cell", hint)
