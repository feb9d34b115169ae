"""Grid: product of the axes, without points whose `when` fails and excluded cells, with what `also` adds. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from math import prod
from operator import itemgetter
from typing import Any, Generic, TypeAlias, TypeVar

from stepgrid.expand.axes import UNLABELLED, Axis, Choice, Point
from stepgrid.expand.builds import Build, builds_named
from stepgrid.expand.definitions import Machines
from stepgrid.expand.scope import AlreadyReported, Dependencies, Label, Scope, mentioned_names
from stepgrid.language.expressions import ExpressionError
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.scalars import Version
from stepgrid.language.yaml import Text, key_location
from stepgrid.model.plan import BUILD
from stepgrid.model.site import HERE
from stepgrid.plugins.registry import engine

MOST_CELLS = 50_000  # with their repeats

Also: TypeAlias = tuple[Mapping[str, Text], Location]  # axis -> label, and the location of the entry
T = TypeVar("T")


class EvaluationCache(Generic[T]):
    """A function of a choice's build and of its points on `axes`, computed once for each combination of these.

    A grid of ten thousand cells has few different values: this makes planning it quick. A fault that the function
    reported is one for all of them."""

    __slots__ = ("_compute", "_faults", "_key", "_values")

    def __init__(self, axes: Iterable[int], compute: Callable[[Choice], T]) -> None:
        positions = sorted(axes)
        self._key: Callable[[Any], Any] = itemgetter(*positions) if positions else lambda points: None
        self._compute = compute
        self._values: dict[Any, T] = {}
        self._faults: dict[Any, str] = {}

    def __call__(self, choice: Choice) -> T:
        key = (choice.build, self._key(choice.points))
        try:
            return self._values[key]
        except KeyError:
            if key in self._faults:
                raise AlreadyReported(self._faults[key]) from None
        try:
            value = self._values[key] = self._compute(choice)
        except AlreadyReported as fault:
            self._faults[key] = str(fault)
            raise
        return value


class Grid:
    def __init__(
        self, builds: Sequence[Build], all_builds: Sequence[Build], names: Names, problems: Problems, where: Location
    ) -> None:
        """Take the builds of the build axis, and all that points may name. `where`: the location of the sweep."""
        self._builds, self._all_builds, self._names = builds, all_builds, names
        self._axes, self._problems, self._where = names.axes, problems, where
        self._dependencies = Dependencies(names.positions(range(len(names.axes))))
        self._fault_count = 0  # expressions that have no value

    def choices(
        self, exclude: Sequence[Text], also: Sequence[Also], only: Text | None = None, times: int = 1
    ) -> list[Choice]:
        """List the cells' choices; `times`: how often each is measured."""
        choices = list(self._product()) if self._fits(times) else []
        for position, axis in enumerate(self._axes):
            conditions = [point.when for point in axis.points if point.when is not None]
            if conditions:
                holds = self._cache(conditions, partial(self._holds, position), position)
                choices = [choice for choice in choices if holds(choice)]
        for expression in exclude:
            faults_before = self._fault_count
            matches = self._cache([expression], partial(self._matches, expression, default=False))
            remaining = [choice for choice in choices if not matches(choice)]
            if len(remaining) == len(choices) and self._fault_count == faults_before:
                self._problems.warn("exclude-nothing", expression.where, "no cell matches this", width=len(expression))
            choices = remaining
        self._add(also, choices)
        return choices if only is None else [choice for choice in choices if self._matches(only, choice)]

    def _fits(self, times: int) -> bool:
        sizes = [len(axis.points) for axis in self._axes]
        count = prod(sizes) * max(len(self._builds), 1) * times
        if count > MOST_CELLS:
            message = f"the sweep is too large: {' x '.join(map(str, [len(self._builds), *sizes]))} points"
            message += f", each measured {times} times" if times > 1 else ""
            self._problems.add("too-large", self._where, message, f"at most {MOST_CELLS:,} in all, before `exclude`")
        return count <= MOST_CELLS

    def _product(self) -> Iterator[Choice]:
        """Combine builds and points; a point that names a build replaces the build axis."""
        for points in product(*(axis.points for axis in self._axes)):
            name = next((point.build for point in points if point.build is not None), None)
            for build in self._builds if name is None else self._builds_named(name):
                yield Choice(build, points)

    def _builds_named(self, name: Text) -> Sequence[Build]:
        builds = builds_named(name, self._all_builds)
        if not builds:
            self._report_undefined(name, f"there is no build `{name}`", [build.name for build in self._all_builds])
        return builds

    def _report_undefined(self, name: Text, message: str, choices: Sequence[str]) -> None:
        self._problems.add("undefined-name", name.where, message, nearest(name, choices), len(name))

    def _cache(
        self, expressions: Iterable[Text], compute: Callable[[Choice], T], *positions: int
    ) -> EvaluationCache[T]:
        axes = self._dependencies.axes(mentioned_names(*expressions))
        return EvaluationCache(axes.union(positions), compute)

    def _holds(self, position: int, choice: Choice) -> bool:
        """Evaluate the `when` of a choice's point on an axis."""
        point = choice.points[position]
        if point is None or point.when is None:
            return True
        return self._matches(point.when, choice)

    def _matches(self, expression: Text, choice: Choice, default: bool = True) -> bool:
        """Evaluate an expression; the default of a wrong one keeps the cell, so that faults of its steps are found."""
        try:
            return Scope(self._names.of_choice(choice), {}, {}, self._problems).holds(expression)
        except AlreadyReported:
            self._fault_count += 1
            return default

    def _add(self, also: Sequence[Also], choices: list[Choice]) -> None:
        existing = set(choices) if also else set()
        for entry, where in also:
            for choice in self._entry_choices(entry):
                if choice in existing:
                    self._problems.add("also-twice", where, "the grid has this cell already")
                else:
                    choices.append(choice)
                    existing.add(choice)

    def _entry_choices(self, entry: Mapping[str, Text]) -> Iterator[Choice]:
        axes = {axis.name: axis for axis in self._axes}
        errors_before = len(self._problems.errors)
        for name, label in entry.items():
            if name != BUILD and name not in axes:
                where, hint = key_location(label, label.where), nearest(name, [BUILD, *axes])
                self._problems.add("undefined-name", where, f"there is no axis `{name}`", hint, len(name))
        points = tuple(self._point(axis, entry.get(name)) for name, axis in axes.items())
        builds = self._builds_named(entry[BUILD]) if entry.get(BUILD) is not None else self._builds
        if len(self._problems.errors) == errors_before:
            yield from (Choice(build, points) for build in builds)

    def _point(self, axis: Axis, label: Text | None) -> Point | None:
        if label is None:
            return None
        match = next((point for point in axis.points if Label(point.label) == label), None)
        if match is None and not any(point.label.startswith(UNLABELLED) for point in axis.points):
            message = f"axis `{axis.name}` has no point `{label}`"
            self._report_undefined(label, message, [point.label for point in axis.points])
        return match


# Names that every expression sees of a choice, beside params and options


class Names:
    def __init__(self, axes: Sequence[Axis], machines: Machines) -> None:
        self.axes, self._base = axes, machines.base
        points = [point for axis in axes for point in axis.points]
        self._machines = {
            point: machines.facts(point.hardware, point.where) for point in points if point.hardware is not None
        }
        self._labels = {point: Label(point.label) for point in points}
        self._of_builds: dict[Build, Mapping[str, Any]] = {}

    def positions(self, axes: Iterable[int]) -> dict[str, set[int]]:
        """Find for each name the axes that it depends on."""
        positions: dict[str, set[int]] = defaultdict(set)
        for position in axes:
            axis = self.axes[position]
            names = {axis.name, *(name for point in axis.points for name in point.variables)}
            names |= {"hardware"} if any(point.hardware is not None for point in axis.points) else set()
            for name in names:
                positions[name].add(position)
        return positions

    def machine(self, points: Iterable[Point | None]) -> Mapping[str, Any]:
        """Find the machine of a cell with these points: of the last that names one, else the spec's."""
        if not self._machines:
            return self._base
        named = [self._machines[point] for point in points if point in self._machines]
        return named[-1] if named else self._base

    def of_choice(self, choice: Choice, axes: Iterable[int] | None = None) -> dict[str, Any]:
        """List names with their values; `axes`: the positions of those that may be seen, by default all."""
        names: dict[str, Any] = {}
        points: list[Point] = []
        for position in range(len(self.axes)) if axes is None else axes:
            if (point := choice.points[position]) is not None:
                names[self.axes[position].name] = self._labels[point]
                points.append(point)
        for point in points:
            names |= point.variables
        label = names.get("hardware")
        names |= self.of_build(choice.build)
        if label is not None or self._machines:
            names["hardware"] = Machine.of(self.machine(points), label)
        return names

    def of_build(self, build: Build) -> Mapping[str, Any]:
        if build not in self._of_builds:
            names: dict[str, Any] = {"build": Label(build.name, frozenset({build.family})), "engine": build.engine}
            names |= {"hardware": Machine.of(self._base, None), "has": _capability(build.engine, build.version)}
            if build.version:
                names["version"] = Version(build.version)
            self._of_builds[build] = names
        return self._of_builds[build]


class Machine(Label):
    """`hardware` in an expression: its facts by name, and itself equal to its label or id."""

    facts: Mapping[str, Any]

    @classmethod
    def of(cls, facts: Mapping[str, Any], label: str | None) -> Machine:
        names = frozenset(str(name) for name in (facts.get("id"), label) if name)
        machine = cls(label or str(facts.get("id", HERE)), names)
        machine.facts = facts
        return machine

    def __getitem__(self, name: Any) -> Any:
        return self.facts[name]


_ANY_VERSION = "9999"


@lru_cache(maxsize=1024)
def _capability(engine_name: str, version: str) -> Callable[[object], bool]:
    """Make `has` in an expression."""
    plugin = engine(engine_name)
    capabilities = plugin.capabilities(version) if version else frozenset()
    all_names = plugin.capabilities(_ANY_VERSION) | capabilities

    def has(capability: object) -> bool:
        name = str(capability)
        if not version:
            message = f"`has('{name}')` goes by the version of the build, which has none"
            raise ExpressionError(message, hint="give the build a `version:` or `versions:`")
        if name not in all_names:
            hint = nearest(name, plugin.capabilities(_ANY_VERSION))
            raise ExpressionError(f"{engine_name} has no capability `{name}`", hint=hint)
        return name in capabilities

    return has
