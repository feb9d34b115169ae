"""Plug-ins by name: found by the entry points of the installed packages, and what each can do in this version.

stepgrid's own are found the same way. Names cost one look at the installed packages; a plug-in is imported when
it is asked for.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from stepgrid.model.records import Json
from stepgrid.package import DATABASES
from stepgrid.plugins.collector import OwnMetrics
from stepgrid.plugins.driver import (
    POWER,
    ClientBuild,
    DefaultTables,
    Driver,
    ForeignEngines,
    InputFiles,
    OutputReader,
    PowerCuts,
    Runner,
    RunningDriver,
    StepFiles,
)
from stepgrid.plugins.engine import Built, CompiledEngine, DeclaredBuilds, Engine, EngineBuilder, OptionEffects
from stepgrid.plugins.server import ServerEngine

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

    from stepgrid.model.figures import Figures
    from stepgrid.model.metrics import Metric
    from stepgrid.model.plan import PlannedStep
    from stepgrid.plugins.collector import Collector
    from stepgrid.plugins.design import Design
    from stepgrid.plugins.layout import Layout

Plugin = TypeVar("Plugin")

OWN = "stepgrid"  # the distribution that brings the built-in ones
CONFORMANCE = "`python -m stepgrid_conformance` says what a plug-in needs (docs/guides/plugins.md)"
INSTALL = "`pip install PACKAGE` adds one (docs/guides/plugins.md)"


class PluginError(LookupError):
    """A plug-in that is not installed or cannot be imported: a sentence and a hint."""


class Registry(Generic[Plugin]):
    """The plug-ins of one group of entry points."""

    def __init__(self, group: str, noun: str, protocol: str, install: str = INSTALL) -> None:
        """`protocol`: module and name, as few processes need more than one of them."""
        self.group, self.noun, self._protocol, self._install = f"{OWN}.{group}", noun, protocol, install
        self._complete: set[str] = set()  # those of other packages that have all that their protocol asks for

    @cached_property
    def points(self) -> dict[str, EntryPoint]:
        points: dict[str, EntryPoint] = {}
        for point in sorted(_entry_points()[self.group], key=lambda point: point.name):
            first = points.setdefault(point.name, point)
            if first.value != point.value:  # equal: one package, met twice on the path
                both = f"{package_version(first)} and {package_version(point)}"
                raise PluginError(f"two packages bring the {self.noun} `{point.name}`: {both}; uninstall one of them")
        return points

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.points))

    def built_in(self) -> tuple[str, ...]:
        return tuple(name for name in self.names() if _is_own(self.points[name]))

    def folder(self, name: str) -> Path:
        """Find the folder of a plug-in's module without importing it."""
        spec = find_spec(self.points[name].module)
        return Path(spec.origin).parent if spec and spec.origin else Path()

    def get(self, name: str) -> Plugin:
        if "points" not in vars(self) and (built_in := self._import_built_in(name)):
            return built_in
        if name not in self.points:
            raise PluginError(f"{self.noun} `{name}` is not installed; {self._install}")
        point = self.points[name]
        try:
            plugin: Plugin = getattr(import_module(point.module), point.attr)
        except Exception as error:  # whatever the module of another package does when it is imported
            raise PluginError(f"{self._label(point)} cannot be imported: {type(error).__name__}: {error}") from error
        if not _is_own(point) and name not in self._complete:
            if missing := [member for member in self.members() if not hasattr(plugin, member)]:
                raise PluginError(f"{self._label(point)} has no {', '.join(missing)}; {CONFORMANCE}")
            self._complete.add(name)
        return plugin

    def _label(self, point: EntryPoint) -> str:
        return f"{self.noun} `{point.name}` of {package_version(point)}"

    def _import_built_in(self, name: str) -> Plugin | None:
        """Import an engine or driver of stepgrid itself by its name: a job is spared the look at what is installed.

        Whether another package brings that name, too, is checked where a spec is.
        """
        attribute = {f"{OWN}.engines": "ENGINE", f"{OWN}.drivers": "DRIVER"}.get(self.group)
        module = f"{DATABASES.name}.{self.group.removeprefix(f'{OWN}.')}.{name}"
        if attribute is None or not name.isidentifier() or find_spec(module) is None:
            return None
        return cast("Plugin | None", getattr(import_module(module), attribute, None))

    def members(self) -> list[str]:
        """List the attributes and methods that each plug-in of this group has."""
        module, _, name = self._protocol.partition(":")
        protocol = getattr(import_module(module), name)
        return [member for member in {**protocol.__annotations__, **vars(protocol)} if not member.startswith("_")]

    def unknown(self, name: str) -> tuple[str, str, int]:
        """Make the problem of a spec: its message, the nearest name or how to install it, its width."""
        from stepgrid.language.problems import nearest

        hint = nearest(name, self.points)
        return (
            f"there is no {self.noun} `{name}`",
            hint if hint.endswith("?") else f"{hint}; {self._install}",
            len(name),
        )


ENGINES: Registry[Engine] = Registry("engines", "engine", "stepgrid.plugins.engine:Engine")
DRIVERS: Registry[Driver] = Registry("drivers", "kind", "stepgrid.plugins.driver:Driver")
COLLECTORS: Registry[Collector] = Registry("collectors", "collector", "stepgrid.plugins.collector:Collector")
LAYOUTS: Registry[Layout] = Registry("layouts", "layout", "stepgrid.plugins.layout:Layout")
MEMORIES: Registry[Any] = Registry("memories", "memory", "stepgrid.summarize.report_files:Memory")
DESIGNS: Registry[Design] = Registry("designs", "design", "stepgrid.plugins.design:Design")
FORMS: Registry[Any] = Registry("forms", "form of a report", "stepgrid.summarize.report_formats:ReportForm")
PICTURES: Registry[Any] = Registry("pictures", "file of a chart", "stepgrid.summarize.report_formats:PictureForm")
ANSWERS: Registry[Any] = Registry("answers", "answer", "stepgrid.summarize.report:AnswerGrid")
EXPORTS: Registry[Any] = Registry("exports", "file of results", "stepgrid.summarize.report_files:ReadExport")
COMMANDS: Registry[Any] = Registry("commands", "command", "stepgrid.cli.commands:Command")


def foreign_packages(*registries: Registry[Any]) -> dict[str, set[Path]]:
    """Map packages beside stepgrid itself, with their versions, to the code of their plug-ins."""
    folders: dict[str, set[Path]] = defaultdict(set)
    for point in (point for registry in registries for point in registry.points.values()):
        if not _is_own(point):
            spec = find_spec(point.module.partition(".")[0])
            paths = (spec.submodule_search_locations or [spec.origin or spec.name]) if spec else []
            folders[package_version(point)].update(map(Path, paths))  # a single module is a file
    return dict(sorted(folders.items()))


def package_version(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


@cache
def _entry_points() -> dict[str, list[EntryPoint]]:
    from importlib.metadata import distributions  # 40 ms, of which a job that asks for no plug-in is spared

    points: dict[str, list[EntryPoint]] = defaultdict(list)
    for point in (point for package in distributions() for point in package.entry_points):
        if point.group.startswith(f"{OWN}."):
            points[point.group].append(point)
    if not points:
        raise PluginError("no plug-in is registered: the installation is older than pyproject.toml; run `make setup`")
    return points


def _is_own(point: EntryPoint) -> bool:
    return point.dist is None or _package_name(point.dist) == OWN


@cache
def _package_name(package: Distribution) -> str:
    return package.name  # reads all of its METADATA


# Drivers by step kind


@cache
def driver(kind: str) -> Driver:
    """Import the planning half of a kind."""
    return DRIVERS.get(kind)


def find_driver(kind: str) -> Any:
    """Import the planning half of a kind; None where it is not installed, as results from elsewhere may be of any."""
    try:
        return driver(kind)
    except PluginError:
        return None


@cache
def runner(kind: str) -> Runner | None:
    """Import both halves of a kind; None if this version only checks and plans it."""
    plugin = driver(kind)
    return cast("Runner", plugin) if isinstance(plugin, RunningDriver) else None


def require_runner(kind: str) -> Runner:
    plugin = runner(kind)
    if plugin is None:
        raise LookupError(f"this version checks and plans steps of kind {kind}; it cannot run them yet")
    return plugin


def unrunnable_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Select the kinds that this version only checks and plans."""
    return tuple(kind for kind in dict.fromkeys(kinds) if runner(kind) is None)


@cache
def runs_on(kind: str, engine_name: str) -> bool:
    """Ask the engine for the kinds that run on it; the kind of another package may name the engine instead."""
    plugin = driver(kind)
    engines = plugin.engines if isinstance(plugin, ForeignEngines) else ()
    return kind in ENGINES.get(engine_name).kinds or engine_name in engines


def power_setting(kind: str, settings: Mapping[str, Json]) -> str | None:
    """Name the setting by which a step cuts the power of its disk; None for another step."""
    plugin = driver(kind)
    name = plugin.power_setting if isinstance(plugin, PowerCuts) else ""
    return name if settings.get(name) == POWER else None


@cache
def default_tables(kind: str) -> tuple[str, ...]:
    """List the layouts that the report of a kind of step shows if the spec names no tables."""
    plugin = find_driver(kind)
    return plugin.tables if isinstance(plugin, DefaultTables) else ()


@cache
def client_engine(kind: str) -> str | None:
    """Name the engine of whose builds a kind's client is one; None if the engine's own build has all programs."""
    plugin = driver(kind)
    return plugin.client if isinstance(plugin, ClientBuild) else None


@cache
def step_files(kind: str) -> StepFiles | None:
    """Import a kind whose steps need files."""
    plugin = driver(kind)
    return plugin if isinstance(plugin, StepFiles) else None


@cache
def input_files(kind: str) -> InputFiles | None:
    """Import a kind whose commands read files of the spec's author."""
    plugin = driver(kind)
    return plugin if isinstance(plugin, InputFiles) else None


def read_settings(step: PlannedStep) -> dict[str, Json]:
    """Select the settings that decide what is read of a step's output, and nothing of what is run."""
    return {name: step.settings.get(name) for name in reading_names(step.kind)}


@cache
def reading_names(kind: str) -> tuple[str, ...]:
    plugin = find_driver(kind)
    return plugin.reading if isinstance(plugin, OutputReader) else ()


def own_metrics(steps: Iterable[PlannedStep]) -> dict[str, Metric]:
    """Collect the metrics that steps name themselves."""
    metrics: dict[str, Metric] = {}
    for step in steps:
        plugin = _metric_namer(step.kind)
        for name, metric in plugin.own_metrics(step.settings).items() if plugin else ():
            metrics.setdefault(name, metric)
    return metrics


@cache
def _metric_namer(kind: str) -> OwnMetrics | None:
    plugin = driver(kind)
    return plugin if isinstance(plugin, OwnMetrics) else None


_PARSER_ERRORS = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError)


def parse_step(kind: RunningDriver, folder: Path, settings: Mapping[str, Json]) -> Figures:
    """Parse a step's output; ParseError for whatever the parser of any package meets in a damaged one."""
    from stepgrid.model.figures import ParseError, check_rates

    for name in ("stdout", "stderr"):
        if os.path.islink(f"{folder}/{name}"):  # noqa: PTH114 - of ten thousand
            raise ParseError(f"{name} is a link: a step's output is read from its own files")
    try:
        figures = kind.parse(folder, settings)
    except _PARSER_ERRORS as error:
        raise ParseError(f"its output cannot be read: {type(error).__name__}: {str(error)[:200]}") from None
    check_rates(figures)
    return figures


# Engines by name


@cache
def engine(name: str) -> Engine:
    """Import the planning half of an engine."""
    return ENGINES.get(name)


def option_effects(name: str | None, option: str) -> frozenset[str]:
    """List what an option of an engine can move, as the engine's table has it: `disk`, `cpu`, `size` …"""
    plugin: object = engine(name) if name in ENGINES.names() else None
    table = plugin.option_effects if isinstance(plugin, OptionEffects) else {}
    spelling = option.replace("-", "_")
    return frozenset(
        effect
        for patterns, effects in table.items()
        for effect in effects
        if any(fnmatchcase(spelling, pattern) for pattern in patterns.split())
    )


def builder(name: str) -> Built | None:
    """Import both halves of an engine; None if this version only checks and plans it."""
    plugin = engine(name)
    return cast(Built, plugin) if isinstance(plugin, EngineBuilder) else None


def require_builder(name: str) -> Built:
    plugin = builder(name)
    if plugin is None:
        raise LookupError(f"this version checks and plans the engine {name}; it cannot build it yet")
    return plugin


def build_systems(name: str) -> tuple[str, ...]:
    """List the build systems that compile an engine, the default first; none of one that is never compiled."""
    plugin = engine(name)
    return plugin.systems if isinstance(plugin, CompiledEngine) else ()


def takes_requirements(name: str) -> bool:
    """Tell whether builds of an engine may have scripts, or are themselves a Python with libraries."""
    from stepgrid.language.requirements import PYTHON

    plugin: object = engine(name)
    return isinstance(plugin, DeclaredBuilds) or (isinstance(plugin, EngineBuilder) and PYTHON in plugin.programs)


def server_engine(name: str) -> ServerEngine | None:
    """Import the running half of an engine that is a server; None if it lives in the step's own program."""
    plugin = engine(name)
    return plugin if isinstance(plugin, ServerEngine) else None


def is_runnable(name: str) -> bool:
    """Tell whether this version builds an engine and, if it is a server, starts it."""
    return builder(name) is not None and (not engine(name).server or server_engine(name) is not None)


def unrunnable_engines(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if not is_runnable(name))
