"""Which cells of two plans are about the same: those with equal labels on the axes that both have. Pure.

An axis on which each of them has one label says what they differ by; where only one of them has several there is no
telling which of its cells is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepgrid.model.plan import Header, PlannedCell
from stepgrid.model.units import counted

Labels = Mapping[str, Sequence[str]]  # axis -> its labels
Chosen = Sequence[tuple[str, str]]  # (axis, label)
Key = tuple[tuple[str, str], ...]


class NotComparable(Exception):
    """Why no cell of one is a cell of the other."""


@dataclass(frozen=True, slots=True)
class Match:
    axes: tuple[str, ...]
    first: Mapping[Key, str]  # labels -> cell
    second: Mapping[Key, str]
    differs: tuple[str, ...]  # axes with one label on each side

    @property
    def common(self) -> list[Key]:
        return [key for key in self.second if key in self.first]

    @property
    def left_out(self) -> Iterator[str]:
        for there, other, where in ((self.first, self.second, "first"), (self.second, self.first, "second")):
            alone = len(there.keys() - other.keys())
            if alone:
                yield f"{counted(alone, 'cell')} of the {where} alone: not compared"


def matched(first: Header, second: Header, chosen: Chosen) -> Match:
    cells = [_chosen(each, chosen) for each in (first, second)]
    sides = [_labels(each, found) for each, found in zip((first, second), cells, strict=True)]
    axes = tuple(axis for axis in sides[1] if axis in sides[0] and _is_kept(sides[0][axis], sides[1][axis]))
    others = [axis for axis in {**sides[1], **sides[0]} if axis not in axes]
    _refuse_several(others, sides)
    one, other = ({_key(cell, axes): cell.id for cell in each} for each in cells)
    found = Match(axes, one, other, tuple(_constant(axis, *sides) for axis in others))
    if not found.common:
        raise NotComparable(_nothing(axes, *sides))
    return found


def _chosen(header: Header, chosen: Chosen) -> list[PlannedCell]:
    """A side is left as it is by a label that it lacks, so that two of one axis choose one in each."""
    cells = list(header.cells)
    for axis, label in chosen:
        cells = [cell for cell in cells if cell.labels.get(axis) == label] or cells
    return cells


def _labels(header: Header, cells: Sequence[PlannedCell]) -> Labels:
    """As far as the cells have them, in the order of the plan."""
    there = {axis.name: {cell.labels.get(axis.name) for cell in cells} for axis in header.axes}
    found = {axis.name: [label for label in axis.labels if label in there[axis.name]] for axis in header.axes}
    return {name: labels for name, labels in found.items() if labels}


def _is_kept(first: Sequence[str], second: Sequence[str]) -> bool:
    return len(first) > 1 or len(second) > 1 or list(first) == list(second)


def _refuse_several(others: Sequence[str], sides: Sequence[Labels]) -> None:
    for axis in others:
        several = next((side[axis] for side in sides if len(side.get(axis, ())) > 1), None)
        if several:
            where = "second" if axis in sides[1] else "first"
            raise NotComparable(
                f"axis `{axis}` is of the {where} alone, and has the labels {', '.join(several)}: "
                f"say which is meant, such as --where {axis}={several[0]}"
            )


def _key(cell: PlannedCell, axes: Sequence[str]) -> Key:
    return tuple((axis, cell.labels[axis]) for axis in axes if axis in cell.labels)


def _constant(axis: str, first: Labels, second: Labels) -> str:
    one, other = (side[axis][0] if axis in side else "not an axis" for side in (first, second))
    return f"{axis}: {one} -> {other}"


def _nothing(axes: Sequence[str], first: Labels, second: Labels) -> str:
    """By the axis that has no label in common, where there is one."""
    for axis in axes:
        if not {*first[axis]} & {*second[axis]}:
            said = f"{', '.join(first[axis])} of the first, {', '.join(second[axis])} of the second"
            hint = f"--where {axis}={first[axis][0]} --where {axis}={second[axis][0]} compares two of them"
            return f"no label of axis `{axis}` is in both: {said}; {hint}"
    return "no cell of the first has the labels of a cell of the second"
