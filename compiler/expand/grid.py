"""The grid: product of the axes, less the points whose `when` fails and the excluded, plus what `also` adds. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from compiler.expand.axes import Axis, Point, named
from compiler.expand.builds import Build
from compiler.expand.labels import Label
from compiler.expand.scope import Reported, Scope
from compiler.language.nodes import Text, key_place
from compiler.language.problem import Problems, nearest

BUILD = "build"


@dataclass(frozen=True, slots=True)
class Choice:
    """A build and at most one point of each axis: what becomes a cell."""

    build: Build
    points: tuple[tuple[str, Point], ...]  # in the axes' order; an axis that `also` left out is not there

    @property
    def labels(self) -> dict[str, str]:
        return {BUILD: self.build.name, **{axis: point.label for axis, point in self.points}}


class Grid:
    def __init__(
        self, builds: Sequence[Build], every: Sequence[Build], axes: Sequence[Axis], problems: Problems
    ) -> None:
        self._builds, self._every, self._axes, self._problems = builds, every, axes, problems

    def choices(self, exclude: Sequence[Text], also: Sequence[Mapping[str, Text]], names: Any) -> list[Choice]:
        """`names(choice)` is what expressions see of a choice."""
        left = [choice for choice in self._product() if self._holds(choice, names)]
        for expression in exclude:
            kept = [choice for choice in left if not self._matches(expression, choice, names)]
            if len(kept) == len(left):
                self._problems.warn("exclude-nothing", expression.where, "no cell matches this", width=len(expression))
            left = kept
        return self._with(left, also)

    def _product(self) -> Iterator[Choice]:
        for points in product(*(axis.points for axis in self._axes)):
            chosen = tuple((axis.name, point) for axis, point in zip(self._axes, points, strict=True))
            for build in self._builds_of(points):
                yield Choice(build, chosen)

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

    def _holds(self, choice: Choice, names: Any) -> bool:
        return all(self._matches(point.when, choice, names) for _, point in choice.points if point.when is not None)

    def _matches(self, expression: Text, choice: Choice, names: Any) -> bool:
        try:
            return Scope(names(choice), {}, {}, self._problems).holds(expression)
        except Reported:
            return True

    def _with(self, choices: list[Choice], also: Sequence[Mapping[str, Text]]) -> list[Choice]:
        there = [choice.labels for choice in choices]
        for entry in also:
            for choice in self._named(entry):
                if choice.labels in there:
                    where = next(iter(entry.values())).where
                    self._problems.add("also-twice", where, "the grid has this cell already")
                else:
                    choices.append(choice)
                    there.append(choice.labels)
        return choices

    def _named(self, entry: Mapping[str, Text]) -> Iterator[Choice]:
        axes = {axis.name: axis for axis in self._axes}
        points: list[tuple[str, Point]] = []
        before = len(self._problems.errors)
        for name in entry:
            if name != BUILD and name not in axes:
                hint = nearest(name, [BUILD, *axes])
                where = key_place(entry[name], entry[name].where)
                self._problems.add("undefined-name", where, f"there is no axis `{name}`", hint, len(name))
        for name, axis in axes.items():
            if name in entry:
                points += [(name, point) for point in self._point(axis, entry[name])]
        builds = self._builds_also(entry)
        if len(self._problems.errors) == before:
            yield from (Choice(build, tuple(points)) for build in builds)

    def _point(self, axis: Axis, label: Text) -> list[Point]:
        found = [point for point in axis.points if Label(point.label) == label]
        if not found:
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
