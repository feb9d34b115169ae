"""Which arms are compared with which, and how that is laid out as a table: from the axes and the report's base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from stepgrid.model.plan import BUILD as BUILD
from stepgrid.model.plan import Axis
from stepgrid.model.status import Status
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run

Labels = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Base axes across, all others down."""

    base: Mapping[str, str]
    across: tuple[str, ...]
    down: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """One measured step."""

    step: str
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the axes that vary here, for words and rows; the builds where none does."""
        varying = tuple(axis.name for axis in self.axes if len(axis.labels) > 1)
        return varying or (BUILD,)


def touching(axes: Sequence[Axis], step: str) -> list[Axis]:
    """The axes that change a step: a checkpoint before it shares the rest."""
    return [axis for axis in axes if axis.steps is None or step in axis.steps]


def layouts(axes: Sequence[Axis], base: Mapping[str, str], able: str | None) -> list[Layout]:
    """Against the base, where the step has its axes; then across builds, where the base is not about builds.

    `able` is the build to compare with then.
    """
    names = {axis.name for axis in axes}
    known = {name: label for name, label in base.items() if name in names}
    found = [_layout(axes, known)] if known else []
    builds = next((axis.labels for axis in axes if axis.name == BUILD), ())
    if len(builds) > 1 and BUILD not in known:
        found.append(_layout(axes, {BUILD: able if able in builds else builds[0]}))
    return found


def most_able(axes: Sequence[Axis], runs: Iterable[Run]) -> str | None:
    """The first build that supports the most: rows where a base is unsupported say nothing. One for all steps."""
    builds = next((axis.labels for axis in axes if axis.name == BUILD), ())
    able = Counter(run.build for run in runs if run.measured and run.status != Status.UNSUPPORTED)
    return max(builds, key=lambda build: able[build], default=None)


def _layout(axes: Sequence[Axis], base: Mapping[str, str]) -> Layout:
    down = [axis for axis in axes if axis.name not in base]
    varying = [axis.name for axis in down if len(axis.labels) > 1]
    return Layout(base, tuple(axis.name for axis in axes if axis.name in base), tuple(varying))


def columns(layout: Layout, axes: Sequence[Axis], points: Sequence[Point]) -> list[Labels]:
    """The base, then every other combination that some point has, in the order of the axes."""
    base = tuple(layout.base[axis] for axis in layout.across)
    present = _present(layout.across, axes, points)
    return [base, *(labels for labels in present if labels != base)]


def lines(layout: Layout, axes: Sequence[Axis], points: Sequence[Point]) -> list[Labels]:
    return _present(layout.down, axes, points)


def _present(names: Sequence[str], axes: Sequence[Axis], points: Sequence[Point]) -> list[Labels]:
    found = {key(point, names) for point in points}
    known: list[tuple[str | None, ...]] = [(*_labels(axes, name), None) for name in names]
    return [labels for labels in product(*known) if labels in found]


def _labels(axes: Sequence[Axis], name: str) -> tuple[str, ...]:
    return next(axis.labels for axis in axes if axis.name == name)


def ordered(points: Sequence[Point], axes: Sequence[Axis]) -> list[Point]:
    """As a reader of the spec expects them: the first axis slowest, labels as written."""

    def position(point: Point) -> list[int]:
        return [[*axis.labels, point.labels.get(axis.name)].index(point.labels.get(axis.name)) for axis in axes]

    return sorted(points, key=position)


def key(point: Point, names: Sequence[str]) -> Labels:
    return tuple(point.labels.get(name) for name in names)


def words(labels: Labels, names: Sequence[str]) -> str:
    """rocksdb-7.8.3, threads=2: a build says what it is, any other label needs its axis."""
    said = [label if name == BUILD else f"{name}={label}" for name, label in zip(names, labels, strict=True) if label]
    return ", ".join(said)
