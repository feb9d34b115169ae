"""A checked spec to its cells: each a build, labels, and the segments of steps between checkpoints. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from compiler.engines import engine
from compiler.expand import axes as axes_of
from compiler.expand import builds as builds_of
from compiler.expand import definitions, layers, resolve
from compiler.expand import hardware as hardware_of
from compiler.expand import steps as steps_of
from compiler.expand.axes import Axis, Point
from compiler.expand.builds import Build
from compiler.expand.grid import Choice, Grid
from compiler.expand.labels import Label
from compiler.expand.resolve import ResolvedStep
from compiler.expand.scope import Reported, Scope
from compiler.expand.steps import Checkpoint, Item
from compiler.expand.unknown import unknown_params
from compiler.language.expressions import ExpressionError
from compiler.language.nodes import Text
from compiler.language.problem import Problems, nearest
from compiler.language.read import Document
from compiler.language.version import Version

_ANY_VERSION = "9999"


@dataclass(frozen=True, slots=True)
class Cell:
    build: Build
    labels: Mapping[str, str]
    segments: tuple[tuple[ResolvedStep, ...], ...]  # the steps between boundaries


@dataclass(frozen=True, slots=True)
class Expansion:
    builds: Sequence[Build]  # that cells use, sources resolved
    axes: Sequence[Axis]
    changes: Mapping[str, tuple[str, ...] | None]  # axis -> the steps that it changes; None = all
    cells: Sequence[Cell]
    hardware: Mapping[str, Any]


def expand(document: Document, host: Mapping[str, Any], problems: Problems) -> Expansion:
    defined = definitions.gather(document, problems)
    hardware = hardware_of.resolve(document, defined, host, problems)
    every = builds_of.resolve(document, defined, problems)
    axes = axes_of.resolve(document, defined.options, problems)
    items = steps_of.resolve(document, defined, problems)
    chosen = axes_of.chosen_builds(document, every, problems)
    if not (chosen and items):
        problems.stop_on_errors()
    sound = not problems.errors  # what follows from an earlier fault is not said as well
    expander = _Expander(document, defined, axes, items, hardware, problems)
    choices = Grid(chosen, every, axes, problems).choices(document.spec.exclude, document.spec.also, expander.names)
    if not choices and sound and not problems.errors:
        where = document.nodes.at.get("sweep", document.nodes.where)
        hint = "`exclude` or the points' `when` leave nothing"
        problems.add("empty-grid", where, "the sweep has no cells", hint, len("sweep"))
    cells = [cell for choice in choices if (cell := expander.cell(choice)) is not None]
    used = {choice.build.name: expander.source(choice.build) for choice in choices}
    if sound:
        expander.finish(cells)
    problems.stop_on_errors()
    return Expansion(list(used.values()), axes, expander.changes(), cells, hardware)


class _Expander:
    def __init__(
        self,
        document: Document,
        defined: definitions.Defined,
        axes: Sequence[Axis],
        items: Sequence[Item | Checkpoint],
        hardware: Mapping[str, Any],
        problems: Problems,
    ) -> None:
        self._spec, self._axes, self._items = document.spec, axes, items
        self._hardware, self._problems = hardware, problems
        self._where = document.nodes.where
        self._layers = layers.Layers(defined.options, problems)
        self._starts = {item.name: item.position for item in items if isinstance(item, Checkpoint)}
        self._steps: dict[tuple[Any, ...], ResolvedStep | None] = {}
        self._flat: dict[tuple[int, str, str], layers.Entries] = {}
        self._changed = {axis.name: self._positions(axis) for axis in axes}

    def names(self, choice: Choice, points: Sequence[tuple[str, Point]] | None = None) -> dict[str, Any]:
        """What every expression sees of a choice, apart from params and options."""
        build = choice.build
        seen = choice.points if points is None else points
        names: dict[str, Any] = {axis: Label(point.label) for axis, point in seen}
        names |= {"build": Label(build.name, frozenset({build.family})), "engine": build.engine}
        names |= {"hardware": self._hardware, "has": _capability(build.engine, build.version)}
        if build.version:
            names["version"] = Version(build.version)
        return names

    def cell(self, choice: Choice) -> Cell | None:
        segments: list[list[ResolvedStep]] = [[]]
        for item in self._items:
            if isinstance(item, Checkpoint):
                segments.append([])
            elif (step := self._step(item, choice)) is not None:
                segments[-1].append(step)
        self._unique(segments)
        filled = tuple(tuple(segment) for segment in segments if segment)
        return Cell(choice.build, choice.labels, filled) if filled else None

    def source(self, build: Build) -> Build:
        """The build with its source as it is for its version."""
        scope = Scope(self.names(Choice(build, ())), {}, {}, self._problems)
        try:
            found = {key: scope.value(node) for key, node in build.source.items()}
        except Reported:
            return build
        source = {key: str(value) for key, value in found.items() if isinstance(value, str)}
        for key in found.keys() - source.keys():
            message = f"build `{build.name}`: no value of `{key}` holds for it"
            self._problems.add("no-value", getattr(build.source[key], "where", build.where), message)
        return Build(build.name, build.family, build.engine, build.version, source, (), (), build.where)

    def changes(self) -> dict[str, tuple[str, ...] | None]:
        steps = [item for item in self._items if isinstance(item, Item)]
        return {
            axis: None if positions is None else tuple(dict.fromkeys(s.name for s in steps if s.position in positions))
            for axis, positions in self._changed.items()
        }

    def finish(self, cells: Sequence[Cell]) -> None:
        self._layers.report_unused()
        steps = [item for item in self._items if isinstance(item, Item)]
        unknown_params(self._spec, self._axes, steps, self._where, self._problems)
        if not cells and not self._problems.errors:
            self._problems.add("no-steps", self._where, "no step's `when` holds in any cell")

    def _step(self, item: Item, choice: Choice) -> ResolvedStep | None:
        points = [(axis, point) for axis, point in choice.points if self._applies(axis, item)]
        key = (item.position, choice.build.name, *((axis, point.label) for axis, point in points))
        if key not in self._steps:
            self._steps[key] = self._resolve(item, choice, points)
        return self._steps[key]

    def _resolve(self, item: Item, choice: Choice, points: Sequence[tuple[str, Point]]) -> ResolvedStep | None:
        scope = self._scope(item, choice, points)
        try:
            if not all(scope.holds(when) for when in item.whens):
                return None
            self._fits(item, choice.build)
            return resolve.step(item, scope, self._problems)
        except Reported:
            return None

    def _scope(self, item: Item, choice: Choice, points: Sequence[tuple[str, Point]]) -> Scope:
        build, name = choice.build, choice.build.engine
        options = layers.by_name(
            self._flatten(self._spec.options, name),
            self._flatten(build.options, name),
            *(self._flatten(point.options, name, "cell") for _, point in points),
            self._flatten(item.options, name),
        )
        given = [self._spec.params, *build.params, *(point.params or {} for _, point in points)]
        params = layers.by_name(*(layers.params(one, self._where) for one in given))
        return Scope(self.names(choice, points), params, options, self._problems)

    def _flatten(self, options: tuple[Any, ...], engine_name: str, unsupported: str = "error") -> layers.Entries:
        key = (id(options), engine_name, unsupported)  # the spec holds these tuples: their ids stay theirs
        if not options:
            return ()
        if key not in self._flat:
            self._flat[key] = self._layers.flatten(options, engine_name, unsupported)
        return self._flat[key]

    def _fits(self, item: Item, build: Build) -> None:
        kinds = engine(build.engine).kinds
        if item.kind not in kinds:
            message = f"step `{item.name}` is of kind {item.kind}, which does not run on {build.engine}"
            self._problems.add("wrong-kind", item.where, message, f"on it: {', '.join(kinds)}", len(item.name))

    def _applies(self, axis: str, item: Item) -> bool:
        changed = self._changed[axis]
        return changed is None or item.position in changed

    def _positions(self, axis: Axis) -> frozenset[int] | None:
        steps = [item for item in self._items if isinstance(item, Item)]
        if axis.start is not None:
            start = self._starts.get(str(axis.start))
            if start is None:
                message = f"there is no checkpoint `{axis.start}`"
                hint = nearest(axis.start, self._starts)
                self._problems.add("undefined-name", axis.start.where, message, hint, len(axis.start))
                return frozenset()
            return frozenset(item.position for item in steps if item.position > start)
        if axis.steps is not None:
            return frozenset(position for name in axis.steps for position in self._named(name, steps))
        return None

    def _named(self, name: Text, steps: Sequence[Item]) -> list[int]:
        found = [item.position for item in steps if item.name == name]
        if not found:
            hint = nearest(name, [item.name for item in steps])
            self._problems.add("undefined-name", name.where, f"there is no step `{name}`", hint, len(name))
        return found

    def _unique(self, segments: Sequence[Sequence[ResolvedStep]]) -> None:
        names = [step.name for segment in segments for step in segment]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            where = [item.where for item in self._items if item.name == name][-1]
            message = f"two steps of a cell are named `{name}`"
            self._problems.add("defined-twice", where, message, "give one of them `as: …`", len(name))


@lru_cache(maxsize=1024)
def _capability(engine_name: str, version: str) -> Any:
    found = engine(engine_name)
    known = found.capabilities(_ANY_VERSION)
    having = found.capabilities(version or _ANY_VERSION)

    def has(name: str) -> bool:
        if name not in known | having:
            raise ExpressionError(f"{engine_name} has no capability `{name}`; {nearest(name, known)}")
        return name in having

    return has
