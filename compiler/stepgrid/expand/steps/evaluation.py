"""A step under one build: what its values look at decides how often each is worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from stepgrid.expand.axes.choice import Choice
from stepgrid.expand.axes.dependencies import OPTIONS, PARAMS, STORAGE_ENGINE, Dependencies, mentioned
from stepgrid.expand.axes.label import Label
from stepgrid.expand.axes.points import Point
from stepgrid.expand.builds import Build
from stepgrid.expand.client_builds import ClientRequest, Clients
from stepgrid.expand.evaluation_cache import EvaluationCache
from stepgrid.expand.expression_names import Names
from stepgrid.expand.expression_scope import AlreadyReported, Scope
from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps import axis_searches, option_layers, options, service, settings, setup
from stepgrid.expand.steps.files import AttachedFiles
from stepgrid.expand.steps.inputs import Inputs
from stepgrid.expand.steps.option_layers import Entries, Layers
from stepgrid.expand.steps.resolved_step import ResolvedStep, Settings, StepHead
from stepgrid.language.models import Spec
from stepgrid.language.problems import Location, Problems
from stepgrid.model.plan import CLIENT, Options
from stepgrid.plugins.registry import client_engine, driver, engine, input_files, runs_on, step_files


class EvaluationContext(NamedTuple):
    """What every step of a spec stands on."""

    spec: Spec
    where: Location
    layers: Layers
    names: Names
    problems: Problems
    clients: Clients
    attached: AttachedFiles
    inputs: Inputs
    meant: frozenset[str] = frozenset()  # settings that misspelt params probably are
    misspelt: frozenset[str] = frozenset()  # params of expressions that misspelt params probably are


class Frame:
    """`axes`: the positions of those that change the step; `points`: of every axis, in cells with this build."""

    def __init__(
        self,
        item: StepEntry,
        build: Build,
        axes: Sequence[int],
        points: Sequence[Sequence[Point]],
        ground: EvaluationContext,
    ) -> None:
        self._item, self._build, self._ground, self._positions = item, build, ground, axes
        params = (ground.spec.params, *build.params)  # the same in every cell
        self._fixed_params = [option_layers.params(layer, ground.where) for layer in params]
        there = [(axis, point) for axis in axes for point in points[axis]]
        reads = self._reads(there)
        names = sorted(reads.names(OPTIONS))
        self._head = StepHead.of(item, tuple(names))
        self._latest: tuple[Choice, Scope] | None = None
        self._step_settings = settings.StepSettings(item, ground.problems, ground.meant, build.reached)
        whens, given = reads.axes(mentioned(item.whens)), reads.axes(settings.mentioned(item))
        self._runs = EvaluationCache(whens, self._holds)
        self._settings = EvaluationCache(given, lambda choice: self._given(choice))
        around = reads.axes([(STORAGE_ENGINE, ""), *service.mentioned(build)]).union(setup.axes(there))
        around |= given if client_engine(item.kind) or step_files(item.kind) or input_files(item.kind) else frozenset()
        self._setup = EvaluationCache(around, self._set_up)
        grouped = _grouped(names, reads)
        self._parts = [self._part(looked_at, together) for looked_at, together in grouped.items()]
        self.axes = whens.union(given, around, *grouped)
        self.step = EvaluationCache(self.axes, self._step)

    def _step(self, choice: Choice) -> ResolvedStep | None:
        try:
            if not self._runs(choice):
                return None
        except AlreadyReported:
            return None
        try:
            given = self._settings(choice)
            around = self._setup(choice)
            parts = [part(choice) for part in self._parts]
        except AlreadyReported:
            self._say_all(choice)
            return None
        if given is None:
            return None
        said = Options(part.options for part in parts)
        return ResolvedStep(self._head, given, said, around, tuple(p.texts for p in parts))

    def _say_all(self, choice: Choice) -> None:
        """What is wrong besides the first fault; each is said once."""
        pieces: list[Callable[[Choice], object]] = [self._settings, self._setup, *self._parts]
        for piece in pieces:
            with suppress(AlreadyReported):
                piece(choice)

    def _given(self, choice: Choice) -> Settings | None:
        ground = self._ground
        found = self._step_settings.resolve(self._scope(choice))
        if found is not None:
            axis_searches.check_names(self._item, found.values, ground.problems)
        return found

    def _set_up(self, choice: Choice) -> setup.Setup:
        points = [point for axis in self._positions if (point := choice.points[axis]) is not None]
        ground = self._ground
        found = setup.resolve(self._item, self._build, points, ground.spec, self._scope(choice), ground.problems)
        item, kind, reads = self._item, step_files(self._item.kind), input_files(self._item.kind)
        given = self._settings(choice) if kind or reads or client_engine(item.kind) else None
        around = {**ground.inputs.libraries(self._build.source), **ground.inputs.around(found.values)}
        if given is None:
            return found.reading({}, around)
        files = ground.attached.of(kind, item, given) if kind else {}
        inputs = ground.inputs.of(reads, item, given) if reads else {}
        client_build = self._client(given)
        if client_build is not None:
            around = {**ground.inputs.libraries(client_build.source), **around}
        named = {**around, **(ground.inputs.named(reads, item, given, inputs) if reads else {})}
        own = {*inputs, *files}
        named = {name: entry for name, entry in named.items() if name not in own}
        return found.along(client_build, files).reading(inputs, named)

    def _client(self, given: Settings) -> Build | None:
        item, wanted = self._item, client_engine(self._item.kind)
        if wanted is None or not self._fits():
            return None
        at = given.values.at.get(CLIENT)
        where = item.where if at is None else Location.read(at)
        return self._ground.clients.named(
            ClientRequest(str(given.values[CLIENT]), wanted, item.base, where, at is not None)
        )

    def _holds(self, choice: Choice) -> bool:
        scope = self._scope(choice)
        if not all(scope.holds(when) for when in self._item.whens):
            return False
        if not self._fits():
            item, name = self._item, self._build.engine
            message = f"step `{item.name}` is of kind {item.kind}, which does not run on {name}"
            hint = f"on it: {', '.join(engine(name).kinds)}"
            self._ground.problems.add("wrong-kind", item.where, message, hint, len(item.name))
        return True

    def _fits(self) -> bool:
        return runs_on(self._item.kind, self._build.engine)

    def _part(self, axes: Iterable[int], names: Sequence[str]) -> EvaluationCache[options.OptionPart]:
        own: Mapping[str, str] = getattr(driver(self._item.kind), "reserved", {})
        reserved = {**engine(self._build.engine).reserved, **own}
        return EvaluationCache(
            axes, lambda choice: options.part(names, reserved, self._scope(choice), self._ground.problems)
        )

    def _scope(self, choice: Choice) -> Scope:
        """What expressions see; kept for the values of one choice, which are worked out one after the other."""
        if self._latest is None or self._latest[0] is not choice:
            chosen = [point for axis in self._positions if (point := choice.points[axis]) is not None]
            said = option_layers.by_name(*(entries for _, entries in self._option_layers(enumerate(chosen))))
            given = option_layers.by_name(*(entries for _, entries in self._param_layers(enumerate(chosen))))
            names = self._ground.names.of(choice, self._positions)
            searched = self._item.search.variable if self._item.search else None
            variables = {name: Label(value) for name, value in self._item.variables.items() if name != searched}
            names |= variables
            scope = Scope(names, given, said, self._ground.problems, self._ground.misspelt)
            self._latest = choice, scope
            if engine(self._build.engine).server:
                scope.names[STORAGE_ENGINE] = setup.storage_engine(self._build, scope)
        return self._latest[1]

    def _reads(self, points: Sequence[tuple[int, Point]]) -> Dependencies:
        reads = Dependencies(self._ground.names.positions(self._positions))
        for axis, entries in self._option_layers(points):
            reads.add(OPTIONS, entries, axis)
        for axis, entries in self._param_layers(points):
            reads.add(PARAMS, entries, axis)
        return reads

    def _option_layers(self, points: Iterable[tuple[int, Point]]) -> Iterator[tuple[int | None, Entries]]:
        """Lowest first; with the axis of those that a point adds."""
        flatten, name = self._ground.layers.flatten, self._build.engine
        yield None, flatten(self._ground.spec.options, name)
        yield None, flatten(self._build.options, name)
        yield from ((axis, flatten(point.options, name, point.unsupported)) for axis, point in points)
        yield None, flatten(self._item.options, name)

    def _param_layers(self, points: Iterable[tuple[int, Point]]) -> Iterator[tuple[int | None, Entries]]:
        for entries in self._fixed_params:
            yield None, entries
        where = self._ground.where
        yield from ((axis, option_layers.params(point.params or {}, where)) for axis, point in points)


def _grouped(names: Iterable[str], reads: Dependencies) -> dict[frozenset[int], list[str]]:
    """Options by the axes that they look at."""
    found: dict[frozenset[int], list[str]] = {}
    for name in names:
        found.setdefault(reads.axes([(OPTIONS, name)]), []).append(name)
    return found
