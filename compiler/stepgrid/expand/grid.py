"""Grid: product of the axes, without points whose `when` fails and excluded cells, with what `also` adds. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from math import prod
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from stepgrid.expand.axes import UNLABELLED, Axis, Choice, Point
from stepgrid.expand.builds import Build, builds_named
from stepgrid.expand.definitions import Machines
from stepgrid.expand.scope import AlreadyReported, Dependencies, Label, Scope, mentioned_names
from stepgrid.language.expressions import ExpressionError
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.scalars import Version
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Text, key_location
from stepgrid.model.plan import BUILD, Json, PlannedDesign
from stepgrid.model.site import HERE
from stepgrid.plugins.design import Design, DesignError, DesignRequest, Factor, Row
from stepgrid.plugins.registry import DESIGNS, engine

MOST_CELLS = 50_000  # with their repeats

Also: TypeAlias = tuple[Mapping[str, Text], Location]  # axis -> label, and the location of the entry
T = TypeVar("T")


class EvaluationCache(Generic[T]):
    """A function of a choice's build and of its points on `axes`, computed once for each combination of these.

    One that is not `by_build` has the same values under all builds that share the cache.

    A grid of ten thousand cells has few different values: this makes planning it quick. A fault that the function
    reported is one for all of them."""

    __slots__ = ("_by_build", "_compute", "_faults", "_key", "_values")

    def __init__(self, axes: Iterable[int], compute: Callable[[Choice], T], by_build: bool = True) -> None:
        positions = sorted(axes)
        self._key: Callable[[Any], Any] = itemgetter(*positions) if positions else lambda points: None
        self._compute, self._by_build = compute, by_build
        self._values: dict[Any, T] = {}
        self._faults: dict[Any, str] = {}

    def __call__(self, choice: Choice) -> T:
        key = (self._by_build and choice.build, self._key(choice.points))
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
        self.design: PlannedDesign | None = None  # that chose the points

    def choices(
        self,
        exclude: Sequence[Text],
        also: Sequence[Also],
        only: Text | None = None,
        times: int = 1,
        design: DesignUse | None = None,
    ) -> list[Choice]:
        """List the cells' choices; `times`: how often each is measured."""
        if design is not None:
            choices = self._designed(design, exclude)
            fitting = self._fits([len(choices)], times)
        else:
            fitting = self._fits([len(self._builds), *(len(axis.points) for axis in self._axes)], times)
            choices = list(self._product()) if fitting else []
            for holds in self._conditions():
                choices = [choice for choice in choices if holds(choice)]
            for expression in exclude:
                faults_before = self._fault_count
                matches = self._exclusion(expression)
                remaining = [choice for choice in choices if not matches(choice)]
                if len(remaining) == len(choices) and self._fault_count == faults_before:
                    self._problems.warn(
                        "exclude-nothing", expression.where, "no cell matches this", "", len(expression)
                    )
                choices = remaining
        self._add(also, choices if fitting else [], design is not None)
        return choices if only is None else [choice for choice in choices if self._matches(only, choice)]

    def _conditions(self) -> Iterator[Callable[[Choice], bool]]:
        for position, axis in enumerate(self._axes):
            conditions = [point.when for point in axis.points if point.when is not None]
            if conditions:
                yield self._cache(conditions, partial(self._holds, position), position)

    def _exclusion(self, expression: Text) -> Callable[[Choice], bool]:
        return self._cache([expression], partial(self._matches, expression, default=False))

    def _fits(self, sizes: Sequence[int], times: int) -> bool:
        count = prod(max(size, 1) for size in sizes) * times
        if count > MOST_CELLS:
            message = f"the sweep is too large: {' x '.join(map(str, sizes))} points"
            message += f", each measured {times} times" if times > 1 else ""
            hint = f"at most {MOST_CELLS:,} in all, before `exclude`; `design:` measures some of them"
            self._problems.add("too-large", self._where, message, hint)
        return count <= MOST_CELLS

    def _designed(self, design: DesignUse, exclude: Sequence[Text]) -> list[Choice]:
        """List the choices of a design. An axis that names builds stands for them; else builds are an axis."""
        points = [point for axis in self._axes for point in axis.points]
        has_builds = len(self._builds) > 1 and all(point.build is None for point in points)
        conditions, exclusions = [*self._conditions()], [*map(self._exclusion, exclude)]

        def choices_of(row: Row) -> list[Choice]:
            points = tuple(axis.points[at] for axis, at in zip(self._axes, row[has_builds:], strict=True))
            name = next((point.build for point in points if point.build is not None), None)
            builds = [self._builds[row[0]]] if has_builds else self._builds_named(name) if name else self._builds
            choices = [Choice(build, points) for build in builds]
            allowed = (choice for choice in choices if all(holds(choice) for holds in conditions))
            return [choice for choice in allowed if not any(matches(choice) for matches in exclusions)]

        factors = [self._factor(axis, design.base) for axis in self._axes]
        if has_builds:
            names = [build.name for build in self._builds]
            at = next((at for at, b in enumerate(self._builds) if design.base.get(BUILD) in (b.name, b.family)), 0)
            factors.insert(0, Factor(BUILD, len(names), at))
        request = DesignRequest(tuple(factors), design.number, design.seed, lambda row: bool(choices_of(row)))
        try:
            rows, notes = design.plugin.choose(request)
        except DesignError as error:
            self._problems.add("design-form", design.name.where, error.message, error.hint, len(design.name))
            return []
        self.design = PlannedDesign(str(design.name), design.number, prod(f.values for f in factors), tuple(notes))
        numbers = [{label: at for at, label in enumerate(labels)} for labels in self.labels(has_builds).values()]
        added = (
            tuple(number.get(point.get(factor.name, ""), -1) for factor, number in zip(factors, numbers, strict=True))
            for point in design.added
        )
        complete = [row for row in added if -1 not in row]
        return [choice for row in dict.fromkeys([*rows, *complete]) for choice in choices_of(row)]

    def forbidden(self, exclude: Sequence[Text]) -> Iterator[Mapping[str, str]]:
        """Yield what each expression takes away, as labels of the axes that it is about."""
        for expression in exclude:
            positions = self._dependencies.axes(mentioned_names(expression))
            values = [axis.points if at in positions else axis.points[:1] for at, axis in enumerate(self._axes)]
            matches = self._exclusion(expression)
            fits = self._fits([len(self._builds), *map(len, values)], 1)
            for build, points in product(self._builds, product(*values)) if fits else ():
                if matches(Choice(build, points)):
                    labels = {BUILD: build.name} if len(self._builds) > 1 else {}
                    yield labels | {self._axes[at].name: points[at].label for at in sorted(positions)}

    def labels(self, has_builds: bool) -> Mapping[str, Sequence[str]]:
        """List the labels of each factor of a design."""
        builds = {BUILD: [build.name for build in self._builds]} if has_builds else {}
        return builds | {axis.name: [point.label for point in axis.points] for axis in self._axes}

    def _factor(self, axis: Axis, base: Mapping[str, Text]) -> Factor:
        labels = [Label(point.label) for point in axis.points]
        at = next((at for at, label in enumerate(labels) if label == base.get(axis.name)), 0)
        return Factor(axis.name, len(labels), at, axis.start is None and axis.steps is None)

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

    def _add(self, also: Sequence[Also], choices: list[Choice], is_designed: bool) -> None:
        existing = set(choices) if also else set()
        for entry, where in also:
            for choice in self._entry_choices(entry):
                if choice in existing and is_designed:
                    continue  # its author need not know which cells the design chose
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


class DesignUse(NamedTuple):
    """A design with what a spec says of it."""

    plugin: Design
    name: Text
    number: int | None
    seed: int
    base: Mapping[str, Text]  # of the report
    added: Sequence[Mapping[str, str]] = ()  # points, by axis and label, that a search added to those of the design

    @classmethod
    def of(cls, document: Document, problems: Problems) -> DesignUse | None:
        """Check the design of a spec; None without one, and where it is reported."""
        spec = document.spec
        if spec.design is None:
            return None
        name, number = spec.design.name, spec.design.number or None
        if name not in DESIGNS.names():
            problems.add("undefined-name", name.where, *DESIGNS.unknown(name))
            return None
        plugin = DESIGNS.get(name)
        number = plugin.default if number is None else number
        if not plugin.least and number is not None:
            problems.add("design-form", name.where, f"`{name}` takes no number", f"`design: {name}`", len(name))
        elif plugin.least and not plugin.least <= (number or 0) <= plugin.most:
            message = f"`{name}` needs a number" if number is None else f"`{name}: {number}` is out of range"
            hint = f"`design: {{{name}: N}}`, from {plugin.least} to {plugin.most:,}"
            problems.add("design-form", name.where, message, hint, len(name))
        else:
            return cls(plugin, name, number, spec.seed, spec.report.base, document.tried.points)
        return None


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

    def machine(self, points: Iterable[Point | None]) -> Mapping[str, Json]:
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
            names: dict[str, object] = {"build": Label(build.name, frozenset({build.family})), "engine": build.engine}
            names |= {"hardware": Machine.of(self._base, None), "has": _capability(build.engine, build.version)}
            if build.version:
                names["version"] = Version(build.version)
            self._of_builds[build] = names
        return self._of_builds[build]


class Machine(Label):
    """`hardware` in an expression: its facts by name, and itself equal to its label or id."""

    facts: Mapping[str, object]

    @classmethod
    def of(cls, facts: Mapping[str, object], label: str | None) -> Machine:
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
