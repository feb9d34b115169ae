"""Evaluation of steps under one build: what its values look at decides how often each is computed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import Struct

from stepgrid.expand.axes import Choice, Point
from stepgrid.expand.builds import Build
from stepgrid.expand.clients import Clients
from stepgrid.expand.grid import EvaluationCache, Names
from stepgrid.expand.options import (
    OptionPart,
    OptionSets,
    ResolvedSettings,
    SettingsResolver,
    StepLayers,
    mentioned_by_settings,
    resolve_options,
)
from stepgrid.expand.scope import (
    OPTIONS,
    STORAGE_ENGINE,
    AlreadyReported,
    Label,
    Scope,
    mentioned_names,
    report_all,
)
from stepgrid.expand.setup import (
    OptionFile,
    ResolvedSetup,
    SetupResolver,
    SpecFiles,
    option_files,
    storage_engine,
)
from stepgrid.expand.steps import Checkpoint, StepEntry, StepRange, check_search, check_until
from stepgrid.language.models import Spec
from stepgrid.language.problems import Location, Problems
from stepgrid.language.yaml import Text
from stepgrid.model.plan import Options
from stepgrid.plugins.registry import driver, engine, runs_on


class StepHead(Struct, frozen=True, eq=False):
    """The part of a step that is the same in all cells with a build."""

    name: str  # a label
    step: str  # the label without what `times` and `for` add
    variables: Mapping[str, str]  # of a live grid
    kind: str
    revision: int  # of what the driver runs
    measured: bool
    mutates: bool
    expects: tuple[Text, ...]

    @classmethod
    def of(cls, entry: StepEntry) -> StepHead:
        measured, mutates = entry.flag("measured", True), entry.flag("mutates", False)
        variables = {name: str(value) for name, value in entry.variables.items()}
        revision = driver(entry.kind).revision
        return cls(entry.name, entry.table_name, variables, entry.kind, revision, measured, mutates, entry.expects)


class ResolvedStep(Struct, frozen=True, eq=False):
    """A step under one build and some points, with every layer applied."""

    head: StepHead
    settings: ResolvedSettings
    options: Options
    setup: ResolvedSetup
    renamed: tuple[Mapping[str, Location], ...] = ()  # as its option parts have it


class Segment(Struct, frozen=True, eq=False):
    """The steps between two checkpoints; cells that have the same share the object."""

    steps: tuple[ResolvedStep, ...]
    seed_keys: tuple[str, ...]  # what each step does, for its seed
    expects: tuple[Text, ...]  # of the checkpoint at its end

    @classmethod
    def of(cls, steps: Iterable[ResolvedStep | None], expects: tuple[Text, ...]) -> Segment:
        resolved = tuple([step for step in steps if step is not None])
        return cls(resolved, tuple([_seed_key(step) for step in resolved]), expects)


def _seed_key(step: ResolvedStep) -> str:
    """Name what a step does, for its seed: what runs beside another one changes no seed of a step that does not."""
    timing = step.setup.values.timing
    return f"{f'beside {timing.number}/' if timing else ''}{step.head.kind}/{step.settings.seed_key}"


class EvaluationContext(NamedTuple):
    """Everything that the steps of a spec share."""

    spec: Spec
    where: Location
    sets: OptionSets
    names: Names
    problems: Problems
    clients: Clients
    files: SpecFiles
    shared_settings: dict[Hashable, EvaluationCache[ResolvedSettings | None]]  # of steps, for all builds
    intended_settings: frozenset[str] = frozenset()  # that misspelt params probably are
    misspelt_params: frozenset[str] = frozenset()  # of expressions, that misspelt params probably are


class Sequences:
    """The steps of each build's cells, in segments between checkpoints."""

    def __init__(
        self,
        choices: Iterable[Choice],
        entries: Sequence[StepEntry | Checkpoint],
        step_range: StepRange,
        context: EvaluationContext,
    ) -> None:
        self._entries, self._range, self._context = entries, step_range, context
        by_build: dict[Build, list[Choice]] = defaultdict(list)
        for choice in choices:
            by_build[choice.build].append(choice)
        self._caches = {build: list(self._segment_caches(build, group)) for build, group in by_build.items()}

    def segments(self, choice: Choice) -> tuple[Segment, ...]:
        """List the segments that have steps."""
        segments = [segment(choice) for segment in self._caches[choice.build]]
        return tuple([segment for segment in segments if segment.steps])

    def _segment_caches(self, build: Build, choices: Sequence[Choice]) -> Iterator[EvaluationCache[Segment]]:
        columns = zip(*(choice.points for choice in choices), strict=True)
        points = [[point for point in dict.fromkeys(column) if point is not None] for column in columns]
        values_by_layers: dict[Hashable, StepValues] = {}
        evaluations: list[StepEvaluation] = []
        for entry in self._entries:
            if isinstance(entry, Checkpoint):
                yield _segment_cache(evaluations, entry.expects)
                evaluations = []
            else:
                axes = tuple(self._range.axes(entry))
                key = (axes, *StepValues.key(entry, build, self._context))
                if key not in values_by_layers:
                    patches = [(axis, point) for axis in axes for point in points[axis]]
                    values_by_layers[key] = StepValues(entry, build, axes, patches, self._context)
                evaluations.append(StepEvaluation(entry, build, values_by_layers[key], self._context))
        yield _segment_cache(evaluations, ())


def _segment_cache(evaluations: Sequence[StepEvaluation], expects: tuple[Text, ...]) -> EvaluationCache[Segment]:
    axes: frozenset[int] = frozenset().union(*(evaluation.axes for evaluation in evaluations))

    def segment(choice: Choice) -> Segment:
        return Segment.of((evaluation.step(choice) for evaluation in evaluations), expects)

    return EvaluationCache(axes, segment)


class StepOptions(NamedTuple):
    """Options of steps, as one object for all that share them, with the files that they name."""

    options: Options
    renamed: tuple[Mapping[str, Location], ...]
    files: Sequence[OptionFile]


class StepValues:
    """Params and options under one build; steps with the same layers of them share all that is computed."""

    def __init__(
        self,
        entry: StepEntry,
        build: Build,
        axes: Sequence[int],
        points: Sequence[tuple[int, Point]],
        context: EvaluationContext,
    ) -> None:
        """Take the positions of the axes that change the step, and their points that are in cells with the build."""
        self.axes, self.points = axes, points
        self._entry, self._build, self._context = entry, build, context
        self._latest: tuple[Choice, Scope] | None = None
        self._layers = StepLayers(entry, build, context.spec, context.sets, context.where)
        self.dependencies = self._layers.dependencies(context.names.positions(axes), points)
        names_by_axes: dict[frozenset[int], list[str]] = defaultdict(list)
        for name in sorted(self.dependencies.names(OPTIONS)):
            names_by_axes[self.dependencies.axes([(OPTIONS, name)])].append(name)
        self._parts = [self._option_part(looked_at, together) for looked_at, together in names_by_axes.items()]
        self.option_axes: frozenset[int] = frozenset().union(*names_by_axes)
        self.options = EvaluationCache(self.option_axes, self._resolve_options)

    @staticmethod
    def key(entry: StepEntry, build: Build, context: EvaluationContext) -> tuple[Hashable, ...]:
        """Return what decides, beside the axes, what its values are."""
        options = context.sets.flatten(entry.options, build)
        return entry.kind, id(options), entry.flag("measured", True), frozenset(_variables(entry).items())

    def scope(self, choice: Choice) -> Scope:
        """Make the scope of a choice; its values are computed one after the other, so the latest scope is kept."""
        if self._latest is None or self._latest[0] is not choice:
            context = self._context
            names = context.names.of_choice(choice, self.axes)
            names |= {name: Label(value) for name, value in _variables(self._entry).items()}
            params, options = self._layers.stacks(choice.on(self.axes))
            scope = Scope(names, params, options, context.problems, context.misspelt_params)
            self._latest = choice, scope
            if engine(self._build.engine).server:
                scope.names[STORAGE_ENGINE] = storage_engine(self._build, scope)
        return self._latest[1]

    def _resolve_options(self, choice: Choice) -> StepOptions:
        parts: list[OptionPart] = report_all(self._parts, lambda part: part(choice))
        options = Options(part.options for part in parts)
        renamed = tuple([part.renamed for part in parts if part.renamed])
        return StepOptions(options, renamed, option_files(self._build, options, self._context.files))

    def _option_part(self, axes: Iterable[int], names: Sequence[str]) -> EvaluationCache[OptionPart]:
        own_names: Mapping[str, str] = getattr(driver(self._entry.kind), "reserved", {})
        reserved, problems = {**engine(self._build.engine).reserved, **own_names}, self._context.problems
        return EvaluationCache(axes, lambda choice: resolve_options(names, reserved, self.scope(choice), problems))


def _variables(entry: StepEntry) -> dict[str, Text]:
    """List the variables of its live grid that expressions see: not the one that is searched."""
    searched = entry.search.variable if entry.search else None
    return {name: value for name, value in entry.variables.items() if name != searched}


class StepEvaluation:
    """A step under one build; each of its parts is computed once for all points that it depends on."""

    def __init__(self, entry: StepEntry, build: Build, values: StepValues, context: EvaluationContext) -> None:
        self._entry, self._build, self._values, self._context = entry, build, values, context
        dependencies = values.dependencies
        self._head = StepHead.of(entry)
        self._step_settings = SettingsResolver(
            entry, context.problems, context.intended_settings, build.server_placeholders
        )
        self._step_setup = SetupResolver(entry, build, context.spec, context.files, context.clients)
        whens = dependencies.axes(mentioned_names(entry.whens))
        mentioned = list(mentioned_by_settings(entry))
        settings_axes = dependencies.axes(mentioned)
        setup_axes = dependencies.axes(self._step_setup.names()).union(self._step_setup.axes(values.points))
        setup_axes |= settings_axes if self._step_setup.needs_settings else frozenset()
        self._runs = EvaluationCache(whens, self._holds)
        self._settings = EvaluationCache(settings_axes, self._resolve_settings, by_build=False)
        if dependencies.are_alike(mentioned, [name for params in build.params for name in params]):
            key = (id(entry), settings_axes, *build.server_placeholders)
            self._settings = context.shared_settings.setdefault(key, self._settings)
        self._setup = EvaluationCache(setup_axes, self._resolve_setup)
        self.axes = whens.union(settings_axes, setup_axes, values.option_axes)
        self.step = EvaluationCache(self.axes, self._resolve)

    def _resolve(self, choice: Choice) -> ResolvedStep | None:
        try:
            if not self._runs(choice):
                return None
        except AlreadyReported:
            return None
        try:
            settings, setup = self._settings(choice), self._setup(choice)
            options = self._values.options(choice)
            if settings is not None and options.files:
                setup = self._step_setup.with_option_files(setup, settings, options.files)
        except AlreadyReported:
            resolvers: list[Callable[[Choice], object]] = [self._settings, self._setup, self._values.options]
            for resolve in resolvers:  # so that all of its faults are reported, each once
                with suppress(AlreadyReported):
                    resolve(choice)
            return None
        if settings is None:
            return None
        return ResolvedStep(self._head, settings, options.options, setup, options.renamed)

    def _holds(self, choice: Choice) -> bool:
        entry, name, scope = self._entry, self._build.engine, self._values.scope(choice)
        if not all(scope.holds(when) for when in entry.whens):
            return False
        if not runs_on(entry.kind, name):
            message = f"step `{entry.name}` is of kind {entry.kind}, which does not run on {name}"
            hint = f"on it: {', '.join(engine(name).kinds)}"
            self._context.problems.add("wrong-kind", entry.where, message, hint, len(entry.name))
        return True

    def _resolve_settings(self, choice: Choice) -> ResolvedSettings | None:
        settings = self._step_settings.resolve(self._values.scope(choice))
        if settings is not None:
            check_search(self._entry, settings.values, self._context.problems)
            check_until(self._entry, settings.values, self._context.problems)
        return settings

    def _resolve_setup(self, choice: Choice) -> ResolvedSetup:
        setup, scope, settings = self._step_setup, self._values.scope(choice), None
        if setup.needs_settings:
            settings = self._settings(choice)
        return setup.resolve(choice.on(self._values.axes), scope, settings)
