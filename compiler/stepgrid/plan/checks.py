"""Checks of a plan against its builds: names and values of engine options, and programs that steps name. Pure."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatch
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from stepgrid.language.flags import read_flags
from stepgrid.language.problems import Location, Problem, Problems, nearest, nearest_name
from stepgrid.language.sources import TREES, source_kind, source_parts
from stepgrid.model.plan import REFUSE, Option, Plan, PlannedBuild
from stepgrid.model.records import Catalogue, Catalogues, OptionInfo, replace
from stepgrid.plugins.driver import named_programs
from stepgrid.plugins.engine import Choices, FlaggedOptions, KnownOptions, Spelling, option_fault, release_numbers
from stepgrid.plugins.registry import engine

Programs: TypeAlias = Mapping[str, Collection[str] | None]  # build -> its programs; None: not known
Requests: TypeAlias = Sequence[tuple[str, Option]]
ALIKE = 0.85  # of two names: one is probably a slip of the other
MOST_BUILDS = 3  # that a message names
_OFF = frozenset({"off", "0", "no", "false", "n"})  # of a variable of cmake


def describe_option(kind: str, name: str, catalogue: Catalogue | None) -> OptionInfo | None:
    """Return what a catalogue says of an option's value; None where the binary lacks it. `kind`: the engine."""
    if catalogue is None:
        return OptionInfo()
    plugin, info = engine(kind), catalogue.get(name)
    if info is None and isinstance(plugin, Spelling):
        info = plugin.spelled_option(name, catalogue)
    if info is not None and isinstance(plugin, Choices) and name in plugin.choices:
        return replace(info, type="enum", choices=tuple(plugin.choices[name]))
    return info


def option_problems(
    plan: Plan,
    catalogues: Catalogues,
    measured: Callable[[], Collection[str]],
    releases: Mapping[str, ReleaseOptions] | None = None,
    all_known: Callable[[], Mapping[str, Collection[str]]] = dict,
) -> list[Problem]:
    """Check the options of stages whose binary has not taken them yet. `measured` lists stages whose binary has.

    `releases` (engine -> options) are compared where a build has no catalogue: of a release that they know a wrong
    value and an option of another engine are errors, all else is a warning. `all_known`: options by engine."""
    faults = list(_OptionCheck(plan, catalogues, releases or {}, all_known).faults())
    measured_stages = set(measured()) if faults else set()
    certain = {(fault.code, fault.option.where) for fault in faults if fault.certain}
    groups: dict[tuple[str, str], list[OptionFault]] = {}
    for fault in faults:
        if not fault.stages <= measured_stages and (fault.certain or (fault.code, fault.option.where) not in certain):
            groups.setdefault((fault.option.where, fault.message), []).append(fault)
    return sorted((_problem(group, plan.spec) for group in groups.values()), key=lambda problem: problem.where)


class ReleaseOptions(NamedTuple):
    """Options of an engine: of its releases, and of its builds that are made here."""

    options: Catalogue
    newest: str = ""  # release; a later one may have more options


class OptionFault(Struct, frozen=True):
    code: str
    name: str
    option: Option
    message: str  # without the builds
    hint: str
    build: PlannedBuild
    certain: bool = True  # by the build's own catalogue
    stages: set[str] = set()


class _OptionCheck:
    def __init__(
        self,
        plan: Plan,
        catalogues: Catalogues,
        releases: Mapping[str, ReleaseOptions],
        all_known: Callable[[], Mapping[str, Collection[str]]],
    ) -> None:
        self._plan, self._catalogues, self._releases, self._all_known = plan, catalogues, releases, cache(all_known)
        self._builds = {build.id: build for build in plan.builds}

    def faults(self) -> Iterator[OptionFault]:
        """Yield a fault for each build and option that is requested, with the stages that request it."""
        option_uses: dict[tuple[str, int], tuple[Mapping[str, Option], set[str]]] = {}  # most steps share theirs
        for stage in self._plan.stages:
            for step in stage.steps:
                option_uses.setdefault((stage.build, id(step.options)), (step.options, set()))[1].add(stage.id)
        requests: dict[str, dict[tuple[str, Option], set[str]]] = defaultdict(lambda: defaultdict(set))
        for (build, _), (options, ids) in option_uses.items():
            for requested in options.items():
                requests[build][requested] |= ids
        for node, stages in requests.items():
            check = self._probable_faults if self._catalogues.get(node) is None else self._certain_faults
            for fault in check(self._builds[node], list(stages)):
                fault.stages.update(stages[fault.name, fault.option])
                yield fault

    def _certain_faults(self, build: PlannedBuild, options: Requests) -> Iterator[OptionFault]:
        builds = [peer for peer in self._builds.values() if peer.engine == build.engine and peer.id != build.id]
        peers = [self._catalogues.get(peer.id) for peer in builds]  # one without a catalogue may have any option
        for name, option in options:
            info = describe_option(build.engine, name, self._catalogues[build.id])
            if info is not None:
                yield from _value_faults(name, option, info, build)
                continue
            may_lack = option.unsupported == "cell" and any(
                describe_option(build.engine, name, catalogue) is not None for catalogue in peers
            )
            if option.unsupported != "drop" and not may_lack:
                yield OptionFault("unknown-option", name, option, f"no option `{name}`", self._hint(build, name), build)

    def _probable_faults(self, build: PlannedBuild, options: Requests) -> Iterator[OptionFault]:
        """Compare with the releases: a fork or a patch may add options, but hardly one that is nearly theirs."""
        catalogue, newest = self._releases.get(build.engine, ReleaseOptions({}))
        yield from _compiled_out(build, options)
        is_release = _is_known_release(build, newest)
        for name, option in options if catalogue else ():
            info = describe_option(build.engine, name, catalogue)
            if (
                info is None
                and option.unsupported == REFUSE
                and is_release
                and (hint := self._other_engine(build, name))
            ):
                yield OptionFault("unknown-option", name, option, f"no option `{name}`", hint, build)
            elif info is None and option.unsupported != "drop":
                close = get_close_matches(name, catalogue, 1, ALIKE)
                if close or is_release:
                    message = f"no known release of {build.engine} has an option `{name}`"
                    similar = close[0] if close else nearest_name(name, catalogue)
                    command = shlex.join(["stepgrid", "builds", self._plan.spec, "--yes"])
                    hint = f"did you mean `{similar}`?" if similar else f"`{command}` asks the build itself"
                    yield OptionFault("unknown-option", name, option, message, hint, build, certain=False)
                info = describe_option(build.engine, close[0], catalogue) if close else None
            if info:
                yield from _value_faults(name, option, info, build, certain=is_release and name in catalogue)

    def _hint(self, build: PlannedBuild, name: str) -> str:
        builds = [peer for peer in self._builds.values() if name in (self._catalogues.get(peer.id) or ())]
        by_engine = {peer.engine: peer for peer in builds}
        if build.engine in by_engine:
            peer = by_engine[build.engine].name
            return f"{peer} has it: say `when_unsupported: drop`, or put it on a point of an axis"
        if by_engine:
            kind = next(iter(by_engine))
            return f"it is an option of {kind}: write `{{engine: {kind}, options: {{{name}: …}}}}`"
        near = get_close_matches(name, sorted(self._catalogues[build.id] or ()), 1)
        return self._other_engine(build, name) or (f"did you mean `{near[0]}`?" if near else "")

    def _other_engine(self, build: PlannedBuild, name: str) -> str:
        """Say whose option it is, where other engines alone have it."""
        owners = [kind for kind, names in self._all_known().items() if kind != build.engine and name in names]
        return f"it is an option of {' and '.join(owners)}" if owners else ""


def _compiled_out(build: PlannedBuild, options: Requests) -> Iterator[OptionFault]:
    """Yield a fault for each option that the build's flags leave out of its binary."""
    kind = engine(build.engine)
    if not isinstance(kind, FlaggedOptions) or source_kind(build.source) not in TREES:
        return
    variables = read_flags(build.recipe).variables
    off = {name: value for name, value in variables.items() if value.lower() in _OFF}
    for pattern, variable in kind.flagged_options.items() if off else ():
        for name, option in options if variable in off else ():
            if fnmatch(name, pattern) and option.unsupported == REFUSE:
                hint = f"its flags say `{variable}: {off[variable]}`, which leaves it out: leave one of the two out"
                yield OptionFault("unknown-option", name, option, f"no option `{name}`", hint, build)


def _is_known_release(build: PlannedBuild, newest: str) -> bool:
    """Tell whether a build is a release, neither a fork nor patched, that is no later than the newest known one."""
    kind = engine(build.engine)
    if not isinstance(kind, KnownOptions) or build.recipe.get("patches"):
        return False
    trees = {str(part["git"]) for part in source_parts(build.source) if "git" in part}
    return trees <= {kind.repository} and release_numbers(build.version) <= release_numbers(newest)


def _value_faults(
    name: str, option: Option, info: OptionInfo, build: PlannedBuild, certain: bool = True
) -> Iterator[OptionFault]:
    if text := option_fault(engine(build.engine), info, option.value):
        message, _, hint = text.partition("; ")
        yield OptionFault("wrong-option", name, option, f"`{name}` {message}", hint, build, certain)


def _problem(faults: list[OptionFault], spec: str) -> Problem:
    """Report one fault of several builds."""
    first = faults[0]
    message = first.message
    if first.certain and first.code == "unknown-option":
        builds = sorted({fault.build.name for fault in faults})
        verb = "have" if len(builds) > 1 else "has"
        if len(builds) > MOST_BUILDS:
            builds[MOST_BUILDS:] = [f"{len(builds) - MOST_BUILDS} other builds"]
        listed = " and ".join(part for part in (", ".join(builds[:-1]), builds[-1]) if part)
        message = f"{listed} {verb} {message}"
    where = Location.read(first.option.where) if first.option.where else Location(spec, 1, 1)
    severity: Literal["error", "warning"] = "error" if first.certain else "warning"
    return Problem(first.code, where, message, first.hint, severity, len(first.name))


def program_problems(plan: Plan, programs: Programs) -> list[Problem]:
    """Check the programs that steps and services name as `{program:NAME}`: each once, with the steps that name it."""
    problems = Problems()
    builds = {build.id: build for build in plan.builds}
    for stage in plan.stages:
        names, build = programs.get(stage.build), builds[stage.build]
        if names is None:
            continue
        for step in stage.steps:
            argv = step.settings.get("argv")
            client = programs.get(step.client) if step.client else ()
            words = argv if isinstance(argv, list) and client is not None else []
            for name in named_programs([*map(str, words)]):
                if name not in (*names, *(client or ())):
                    locations: Mapping[str, str] = getattr(step.settings, "at", {})  # while the spec is being compiled
                    where = Location.read(locations["argv"]) if "argv" in locations else Location(plan.spec, 1, 1)
                    message = f"{build.name} has no program `{name}`"
                    problems.append(Problem("unknown-program", where, message, nearest(name, names)), step.name)
            service = step.setup.service
            for name in named_programs(
                (*service.argv, *service.ready.command, *service.stop.command) if service else ()
            ):
                if name not in names:
                    message = f"{build.name} has no program `{name}` for its service"
                    problems.add("unknown-program", Location.read(build.where), message, nearest(name, names))
    return problems.items
