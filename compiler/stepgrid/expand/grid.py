"""The grid: product of the axes, less the points whose `when` fails and the excluded, plus what `also` adds. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import TypeAlias

from stepgrid.expand.axes.axis import Axis, named
from stepgrid.expand.axes.choice import BUILD, Choice
from stepgrid.expand.axes.dependencies import Dependencies, mentioned
from stepgrid.expand.axes.label import Label
from stepgrid.expand.axes.points import UNLABELLED, Point
from stepgrid.expand.builds import Build
from stepgrid.expand.evaluation_cache import EvaluationCache
from stepgrid.expand.expression_names import Names
from stepgrid.expand.expression_scope import AlreadyReported, Scope
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.yaml import Text, key_location

MOST_CELLS = 200_000  # with their repeats

Also: TypeAlias = tuple[Mapping[str, Text], Location]  # axis -> label, and where the entry stands


class Grid:
    def __init__(
        self,
        builds: Sequence[Build],
        every: Sequence[Build],
        axes: Sequence[Axis],
        names: Names,
        problems: Problems,
        where: Location | None = None,
    ) -> None:
        self._where = where
        self._builds, self._every, self._axes = builds, every, axes
        self._names, self._problems = names, problems
        self._reads = Dependencies(names.positions(range(len(axes))))
        self._faults = 0  # expressions that have no value

    def choices(
        self, exclude: Sequence[Text], also: Sequence[Also], only: Text | None = None, times: int = 1
    ) -> list[Choice]:
        """`times`: how often each is measured."""
        left = list(self._product()) if self._fits(times) else []
        for position, axis in enumerate(self._axes):
            if any(point.when is not None for point in axis.points):
                stands = self._stands(position, axis)
                left = [choice for choice in left if stands(choice)]
        for expression in exclude:
            faults = self._faults
            matches = self._once([expression], partial(self._matches, expression, otherwise=False))
            kept = [choice for choice in left if not matches(choice)]
            if len(kept) == len(left) and self._faults == faults:
                self._problems.warn("exclude-nothing", expression.where, "no cell matches this", width=len(expression))
            left = kept
        found = self._with(left, also)
        return found if only is None else [choice for choice in found if self._matches(only, choice)]

    def _fits(self, times: int) -> bool:
        sizes = [len(axis.points) for axis in self._axes]
        count = prod(sizes) * max(len(self._builds), 1) * times
        if count > MOST_CELLS and self._where is not None:
            message = f"the sweep is too large: {' x '.join(map(str, [len(self._builds), *sizes]))} points"
            message += f", each measured {times} times" if times > 1 else ""
            self._problems.add("too-large", self._where, message, f"at most {MOST_CELLS:,} in all, before `exclude`")
        return count <= MOST_CELLS

    def _product(self) -> Iterator[Choice]:
        for points in product(*(axis.points for axis in self._axes)):
            for build in self._builds_of(points):
                yield Choice(build, points)

    def _builds_of(self, points: Iterable[Point]) -> Sequence[Build]:
        """A point that names a build stands for the build axis."""
        for point in points:
            if point.build is not None:
                found = named(point.build, self._every)
                if not found:
                    hint = nearest(point.build, [build.name for build in self._every])
                    message = f"there is no build `{point.build}`"
                    self._problems.add("undefined-name", point.build.where, message, hint, len(point.build))
                return found
        return self._builds

    def _stands(self, position: int, axis: Axis) -> EvaluationCache[bool]:
        """Whether the `when` of a choice's point on an axis holds."""

        def holds(choice: Choice) -> bool:
            point = choice.points[position]
            return point is None or point.when is None or self._matches(point.when, choice)

        return self._once([point.when for point in axis.points if point.when is not None], holds, position)

    def _once(self, expressions: Iterable[Text], compute: Callable[[Choice], bool], *own: int) -> EvaluationCache[bool]:
        return EvaluationCache(self._reads.axes(mentioned(*expressions)) | set(own), compute)

    def _matches(self, expression: Text, choice: Choice, otherwise: bool = True) -> bool:
        """`otherwise` keeps the cell where the expression is wrong, so that faults of its steps are found too."""
        try:
            return Scope(self._names.of(choice), {}, {}, self._problems).holds(expression)
        except AlreadyReported:
            self._faults += 1
            return otherwise

    def _with(self, choices: list[Choice], also: Sequence[Also]) -> list[Choice]:
        there = set(choices) if also else set()
        for entry, where in also:
            for choice in self._named(entry):
                if choice in there:
                    self._problems.add("also-twice", where, "the grid has this cell already")
                else:
                    choices.append(choice)
                    there.add(choice)
        return choices

    def _named(self, entry: Mapping[str, Text]) -> Iterator[Choice]:
        axes = {axis.name: axis for axis in self._axes}
        before = len(self._problems.errors)
        for name in entry:
            if name != BUILD and name not in axes:
                hint = nearest(name, [BUILD, *axes])
                where = key_location(entry[name], entry[name].where)
                self._problems.add("undefined-name", where, f"there is no axis `{name}`", hint, len(name))
        points = tuple(self._point(axis, entry.get(name)) for name, axis in axes.items())
        builds = self._builds_also(entry)
        if len(self._problems.errors) == before:
            yield from (Choice(build, points) for build in builds)

    def _point(self, axis: Axis, label: Text | None) -> Point | None:
        if label is None:
            return None
        found = next((point for point in axis.points if Label(point.label) == label), None)
        if found is None and not any(point.label.startswith(UNLABELLED) for point in axis.points):
            hint = nearest(label, [point.label for point in axis.points])
            message = f"axis `{axis.name}` has no point `{label}`"
            self._problems.add("undefined-name", label.where, message, hint, len(label))
        return found

    def _builds_also(self, entry: Mapping[str, Text]) -> Sequence[Build]:
        label = entry.get(BUILD)
        if label is None:
            return self._builds
        found = named(label, self._every)
        if not found:
            hint = nearest(label, [build.name for build in self._every])
            self._problems.add("undefined-name", label.where, f"there is no build `{label}`", hint, len(label))
        return found
