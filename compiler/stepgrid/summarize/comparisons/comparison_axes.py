"""Axes of comparisons: which arms are compared with which base, and how that is laid out as rows and columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from msgspec import Struct

from stepgrid.model.plan import BUILD, PlannedAxis
from stepgrid.model.status import Status
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run

Labels = tuple[str | None, ...]  # one for each axis; None where an axis does not touch a step


class ComparisonLayout(Struct, frozen=True):
    """Axes of a comparison: those of the base go across, all others down."""

    base: Mapping[str, str]
    across: tuple[str, ...]
    down: tuple[str, ...]


class StepPoints(Struct, frozen=True, eq=False):
    """Points of one measured step."""

    step: str
    axes: tuple[PlannedAxis, ...]
    points: tuple[Point, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the axes that vary here, for words and rows; the builds where none does."""
        varying = tuple(axis.name for axis in self.axes if len(axis.labels) > 1)
        return varying or (BUILD,)

    @property
    def runs(self) -> Iterator[Run]:
        return (run for point in self.points for run in point.runs)

    def point_name(self, point: Point) -> str:
        """Name a point by the axes that vary: `rocksdb-7.8.3, threads=2`."""
        return words(key(point, self.names), self.names)


def touching(axes: Sequence[PlannedAxis], step: str) -> list[PlannedAxis]:
    """List the axes that change a step: a checkpoint before it shares the rest."""
    return [axis for axis in axes if axis.steps is None or step in axis.steps]


def layouts(section: StepPoints, base: Mapping[str, str], able: str | None) -> list[ComparisonLayout]:
    """Lay out a step against each axis of the base, then across builds where the base is not about its builds.

    `able`: the build to compare with then."""
    labels_by_axis = {axis.name: axis.labels for axis in section.axes}
    # builds of another engine do not have the step
    present = {point.labels.get(BUILD) for point in section.points}
    labels_by_axis |= {BUILD: tuple(filter(present.__contains__, labels_by_axis.get(BUILD, ())))} if present else {}
    step_base = {name: label for name, label in base.items() if label in labels_by_axis.get(name, ())}
    bases = [{name: label} for name, label in step_base.items()]
    if len(bases) > 1 and not _all_have_neighbours(section.points, step_base):
        bases = [step_base]
    builds = labels_by_axis.get(BUILD, ())
    if len(builds) > 1 and BUILD not in step_base:
        bases.append({BUILD: able if able in builds else builds[0]})
    return [
        ComparisonLayout(
            labels,
            tuple(name for name in labels_by_axis if name in labels),
            tuple(axis.name for axis in section.axes if axis.name not in labels and len(axis.labels) > 1),
        )
        for labels in bases
    ]


def _all_have_neighbours(points: Sequence[Point], base: Mapping[str, str]) -> bool:
    """Tell whether each point but the base's can be compared with one that differs in a single axis of the base."""
    combinations = {frozenset(point.labels.items()) for point in points}
    return all(
        any(
            label != base[name] and (combination - {(name, label)}) | {(name, base[name])} in combinations
            for name, label in combination
            if name in base
        )
        for combination in combinations
        if any(label != base[name] for name, label in combination if name in base)
    )


def most_able(axes: Sequence[PlannedAxis], runs: Iterable[Run]) -> str | None:
    """Return the first build that supports the most, one for all steps: rows whose base is unsupported say nothing."""
    builds = next((axis.labels for axis in axes if axis.name == BUILD), ())
    supported = Counter(run.build for run in runs if run.measured and run.status != Status.UNSUPPORTED)
    return max(builds, key=lambda build: supported[build], default=None)


def columns(layout: ComparisonLayout, section: StepPoints) -> list[Labels]:
    """List the base, then every other combination that some point has, in the order of the axes."""
    base = tuple(layout.base[axis] for axis in layout.across)
    return [base, *(labels for labels in present_labels(layout.across, section) if labels != base)]


def present_labels(names: Sequence[str], section: StepPoints) -> list[Labels]:
    """List the combinations of these axes that some point has, in the order of the axes."""
    labels_by_axis = {axis.name: axis.labels for axis in section.axes}
    combinations = product(*((*labels_by_axis[name], None) for name in names))
    present = {key(point, names) for point in section.points}
    return [labels for labels in combinations if labels in present]


def ordered(points: Sequence[Point], axes: Sequence[PlannedAxis]) -> list[Point]:
    """Sort points as a reader of the spec expects them: the first axis slowest, labels as written."""
    positions = {axis.name: {label: number for number, label in enumerate(axis.labels)} for axis in axes}
    return sorted(
        points,
        key=lambda point: [
            position.get(point.labels.get(name, ""), len(position)) for name, position in positions.items()
        ],
    )


def key(point: Point, names: Sequence[str]) -> Labels:
    return tuple(point.labels.get(name) for name in names)


def words(labels: Labels, names: Sequence[str]) -> str:
    """Name a combination: `rocksdb-7.8.3, threads=2`; a build says what it is, any other label needs its axis."""
    named = [label if name == BUILD else f"{name}={label}" for name, label in zip(names, labels, strict=True) if label]
    return ", ".join(named)
