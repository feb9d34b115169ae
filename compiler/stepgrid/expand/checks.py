"""Checks beside the expansion: what it does not need to make cells, but a spec should not have."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from stepgrid.expand.axes import Axis, Choice, Point
from stepgrid.expand.builds import Build
from stepgrid.expand.evaluation import ResolvedStep, Segment
from stepgrid.expand.options import check_placeholders, equal_rows, mentioned_by_settings
from stepgrid.expand.scope import OPTIONS, PARAMS, STORAGE_ENGINE, mentioned_names
from stepgrid.expand.search import RateShare
from stepgrid.expand.service import unreached_options
from stepgrid.expand.setup import is_timed, takes_probe
from stepgrid.expand.steps import Checkpoint, StepEntry, StepSettings, check_share
from stepgrid.language.expressions import references
from stepgrid.language.files import head, holds_data
from stepgrid.language.models import OptionSet, Spec, SpecCollector, SpecProbe
from stepgrid.language.problems import MOST_SHOWN, Location, Problems, close_names, nearest
from stepgrid.language.requirements import is_python
from stepgrid.language.site import may_read
from stepgrid.language.sources import LIBRARIES, source_parts
from stepgrid.language.spec_file import Document, definition_location
from stepgrid.language.yaml import Map, Seq, Text, key_location, node_location
from stepgrid.model import units
from stepgrid.model.plan import ENGINE_WARM, inner_texts, recipe_flags, runs_already
from stepgrid.model.units import counted
from stepgrid.plugins.driver import PID_PLACEHOLDER, PLACEHOLDERS
from stepgrid.plugins.durability import COMMIT, differing, plain_word, step_durability
from stepgrid.plugins.engine import DeclaredBuilds, EqualOptions, plain_name
from stepgrid.plugins.registry import COLLECTORS, driver, engine
from stepgrid.plugins.server import SelfWarming


def check_probes(document: Document, steps: Sequence[StepEntry], builds: Collection[Build], problems: Problems) -> None:
    """Check that each probe has one form, steps that exist, and an engine that takes it."""
    step_names = {name for step in steps for name in (step.name, step.base)}
    nodes = document.nodes.get("probes")
    for probe, node in zip(document.spec.probes, nodes if isinstance(nodes, Seq) else (), strict=True):
        keys = node.at.keys() if isinstance(node, Map) else set()  # also those of a wrong type, which is reported
        if len(keys & {"sql", "command"}) != 1:
            _complain_of_probe(probe, "needs `sql` or `command`, one of them", problems)
        if not keys & {"before", "after"}:
            _complain_of_probe(probe, "needs `before` or `after`, with the steps that it is timed at", problems)
        for pattern in (*probe.before, *probe.after):
            if not any(is_timed(step, (pattern,)) for step in steps):
                message = f"probe `{probe.name}`: there is no step `{pattern}`"
                problems.add("undefined-name", pattern.where, message, nearest(pattern, step_names), len(pattern))
        if "command" not in keys and builds and not any(takes_probe(build, probe) for build in builds):
            engines = " or ".join(sorted({build.engine for build in builds}))
            message = f"no cell takes the probe `{probe.name}`: {engines} has no SQL"
            problems.add("unused-probe", probe.name.where, message, "`command` takes any program", len(probe.name))
        owner = f"probe `{probe.name}`: `command`"
        placeholders = (*PLACEHOLDERS, *_server_placeholders(builds))
        check_placeholders(owner, probe.command or (), probe.name.where, placeholders, problems)
    if document.spec.probes:
        _check_probe_names(document.spec.probes, steps, problems)


def _server_placeholders(builds: Iterable[Build]) -> list[str]:
    return [*dict.fromkeys(name for build in builds for name in build.server_placeholders)]


def _complain_of_probe(probe: SpecProbe, predicate: str, problems: Problems) -> None:
    problems.add("probe-form", probe.name.where, f"probe `{probe.name}` {predicate}", width=len(probe.name))


def _check_probe_names(probes: Sequence[SpecProbe], steps: Sequence[StepEntry], problems: Problems) -> None:
    """Check that a step has one figure of each name."""
    from stepgrid.plugins.metrics import METRICS

    names_by_step: dict[str, set[str]] = {step.name: set() for step in steps}
    for probe in probes:
        if probe.name in METRICS:
            message = f"`{probe.name}` is a metric already: a probe needs another name"
            problems.add("reserved-name", probe.name.where, message, width=len(probe.name))
        for pattern in (*probe.before, *probe.after):
            for name in sorted({step.name for step in steps if is_timed(step, (pattern,))}):
                if probe.name in names_by_step[name]:
                    message = f"step `{name}` has the probe `{probe.name}` already"
                    problems.add("defined-twice", pattern.where, message, "each figure needs its name", len(pattern))
                names_by_step[name].add(str(probe.name))


COLLECTOR_FORMS = ("collector", "command")
COLLECTOR_SETTINGS = ("frequency", "call_graph", "events", "every")
_FOLDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def check_collectors(
    document: Document, steps: Iterable[StepEntry], builds: Iterable[Build], problems: Problems
) -> None:
    """Check that each collector has one form, settings that it takes, a name of its own, and steps that exist."""
    step_names = {name for step in steps for name in (step.name, step.base)}
    nodes = document.nodes.get("collectors")
    names: set[str] = set()
    for collector, node in zip(document.spec.collectors, nodes if isinstance(nodes, Seq) else (), strict=True):
        at = node.at if isinstance(node, Map) else {}
        name = collector.name
        if name is None:
            where = node_location(node, document.nodes.where)
            problems.add("collector-form", where, "a collector needs a name, which a `collector` of some kind brings")
            continue
        if (fault := _collector_fault(name, collector, at)) is not None:
            problems.add("collector-form", name.where, f"collector `{name}` {fault}", width=len(name))
        _check_collector_settings(name, collector, at, problems)
        for step in collector.steps:
            if step not in step_names:
                message = f"collector `{name}`: there is no step `{step}`"
                problems.add("undefined-name", step.where, message, nearest(step, step_names), len(step))
        placeholders = (*PLACEHOLDERS, PID_PLACEHOLDER, *_server_placeholders(builds))
        owner = f"collector `{name}`: `command`"
        check_placeholders(owner, collector.command or (), name.where, placeholders, problems)
        if name in names:
            message = f"there is a collector `{name}` already"
            problems.add("defined-twice", name.where, message, "each has a folder of its name", len(name))
        names.add(name)


def _collector_fault(name: str, collector: SpecCollector, keys: Collection[str]) -> str | None:
    if len(set(COLLECTOR_FORMS) & set(keys)) != 1:
        return "needs `collector` or `command`, one of them"
    if "command" in keys and not any(collector.command or ()):
        return "needs a program in `command`"
    return None if _FOLDER.fullmatch(name) else "is called what no folder can be: letters, digits and _ . -"


def _check_collector_settings(
    name: str, collector: SpecCollector, at: Mapping[str, Location], problems: Problems
) -> None:
    kind, settings = collector.collector, tuple[str, ...]()
    if kind is not None:
        if kind not in COLLECTORS.names():
            problems.add("undefined-name", kind.where, *COLLECTORS.unknown(kind))
            return
        settings = COLLECTORS.get(kind).settings
    hint = f"it takes: {', '.join(settings)}" if settings else ""
    locations = {setting: at[setting] for setting in COLLECTOR_SETTINGS if setting in at}
    locations |= {setting: key_location(value, at["settings"]) for setting, value in collector.settings.items()}
    for setting, where in locations.items():
        if setting not in settings:
            message = f"`{setting}` is no setting of {kind or 'a command'} (collector `{name}`)"
            problems.add("unknown-setting", where, message, hint, len(setting))


# Params that nothing takes: a misspelt one must not pass in silence

_COMMA = "a number has no comma, which begins another entry: 20000, 20_000 or 20k"


class UnknownParams(NamedTuple):
    params: Sequence[tuple[str, Location]] = ()
    names: frozenset[str] = frozenset()  # of params that something takes
    undefined: Mapping[str, int] = {}  # params that expressions take and nothing gives -> how many expressions
    only_settings: Sequence[tuple[str, Location]] = ()  # params that no expression takes

    @property
    def intended_settings(self) -> frozenset[str]:
        """The settings that they probably are: those are not missing as well."""
        return frozenset(close for name, _ in self.params[:MOST_SHOWN] for close in self._close_names(name))

    @property
    def misspelt(self) -> frozenset[str]:
        """Params that several expressions take and `params` misspells: the misspelt one is reported."""
        return frozenset(name for name in self.intended_settings if self.undefined.get(name, 0) > 1)

    def report(self, problems: Problems) -> None:
        """Report each, unless the one expression that takes it misspells it: that is reported, and it is right."""
        messages = {problem.message for problem in problems.errors}
        for name, where in self.params:
            close = [] if problems.many else self._close_names(name)
            if not any(f"`params.{choice}` is not defined" in messages for choice in close):
                hint = _COMMA if name.isdigit() else "" if problems.many else nearest(name, self.names)
                problems.add("unknown-param", where, f"no step takes the param `{name}`", hint, len(name))

    def _close_names(self, name: str) -> list[str]:
        return close_names(name, sorted(self.names))


def find_unknown_params(
    document: Document,
    axes: Sequence[Axis],
    entries: Sequence[StepEntry | Checkpoint],
    sets: Mapping[str, OptionSet],
) -> UnknownParams:
    """Find params that no step and no expression takes; sets of includes count if the spec names them."""
    if not all(entry.name for entry in entries):  # an entry that could not be read may take it
        return UnknownParams()
    spec, default = document.spec, document.nodes.where
    steps = [entry for entry in entries if isinstance(entry, StepEntry)]
    texts = list(_texts([spec, steps]))
    texts += _texts(_named_sets(texts, sets))
    uses = {
        (name, node_location(text, default)) for text in texts for group, name in references(text) if group == PARAMS
    }
    settings = {name for step in steps for name in driver(step.kind).settings_model().model_fields} | {STORAGE_ENGINE}
    params = list(_params(spec, axes, default))
    defined = settings | {name for name, _ in params}
    mentioned = {name for name, _ in uses}
    names = frozenset(settings | mentioned)
    undefined = Counter(name for name, _ in uses if name not in defined)
    only_settings = [(name, where) for name, where in params if name in settings - mentioned]
    unknown = [(name, where) for name, where in params if name not in names]
    return UnknownParams(unknown, names, undefined, only_settings)


def warn_overridden_params(
    params: Iterable[tuple[str, Location]],
    entries: Iterable[StepEntry],
    segments: Iterable[Segment],
    problems: Problems,
) -> None:
    """Warn of params that every step that takes them sets itself, so that they change nothing."""
    own_params = {entry.name: _own_params(entry) for entry in entries}
    steps = [step for segment in dict.fromkeys(segments) for step in segment.steps]
    for name, where in params:
        if not any(name in names for names in own_params.values()):
            continue
        locations = {step.head.name: at[name] for step in steps if name in (at := step.settings.values.at)}
        if locations and all(name in own_params[step] for step in locations):
            step, location = next((step, Location.read(text)) for step, text in locations.items())
            message = f"the param `{name}` reaches no step: `{step}` sets its own "
            message += f"({PurePath(location.file).name}:{location.line})"
            if len(locations) > 1:
                message += f", as in {counted(len(locations) - 1, 'other step')}"
            hint = "a step's own setting wins: change it there"
            if location.file != where.file:  # a library's
                hint = f"a step's own setting wins; in `steps`: `{{use: {step}, {name}: …}}`"
            problems.warn("param-overridden", where, message, hint, len(name))


def _own_params(entry: StepEntry) -> set[str]:
    """List the params that a step always sets itself."""
    names = set()
    tables = [table for link in entry.links for table in (link.params, link.model_extra or {})]
    for name, node in (item for table in tables for item in table.items()):
        parts = node if isinstance(node, Seq) else [node]
        if node is not None and not any(isinstance(part, Map) and "when" in part for part in parts):
            names.add(name)
    return names


def _params(spec: Spec, axes: Sequence[Axis], default: Location) -> Iterator[tuple[str, Location]]:
    tables: list[tuple[Mapping[str, object], Location]] = [
        (params, default) for params in (spec.params, *(build.params for build in spec.builds.values()))
    ]
    # a value of a list has no key of its own: its axis has
    tables += [(point.params or {}, axis.where) for axis in axes for point in axis.points]
    for params, where in tables:
        at: Mapping[str, Location] = getattr(params, "at", {})
        yield from ((name, at.get(name, where)) for name in params)


def _named_sets(texts: Iterable[str], sets: Mapping[str, OptionSet]) -> list[OptionSet]:
    """List the sets that texts name, and those that these extend."""
    named: dict[str, OptionSet] = {}
    queue = [str(text) for text in texts if text in sets]
    while queue:
        name = queue.pop()
        if name in sets and name not in named:
            named[name] = sets[name]
            queue.append(str(sets[name].extends))
    return list(named.values())


def _texts(value: Any) -> Iterator[str]:
    """List every text below a value that may hold an expression."""
    if isinstance(value, Text):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*value.values()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, StepEntry):
        yield from _texts(value.links)
    elif hasattr(value, "__dict__"):
        yield from _texts({**value.__dict__, **(getattr(value, "model_extra", None) or {})})


# What no cell uses: points whose `when` never holds, and option sets

_MOST_VERSIONS = 6  # that are listed


def warn_unused_points(
    axes: Iterable[Axis], choices: Sequence[Choice], builds: Iterable[Build], problems: Problems
) -> None:
    """Warn of conditional points that no cell has: a misspelt version or name leaves them out in silence."""
    conditional = [(axis, point, point.when) for axis in axes for point in axis.points if point.when is not None]
    used = {point for choice in choices for point in choice.points} if conditional else set()
    for axis, point, when in conditional:
        if used and point not in used:  # a spec without cells is reported already
            message = f"no cell has the point `{point.label}` of axis `{axis.name}`"
            hint = "change its `when`, or remove the point"
            if ("version", "") in mentioned_names(when):
                versions = list(dict.fromkeys(build.version for build in builds))
                listed = ", ".join(versions[:_MOST_VERSIONS]) + (", …" if len(versions) > _MOST_VERSIONS else "")
                hint = f"{hint}; versions here: {listed}"
            problems.warn("point-unused", when.where, message, hint, len(when))


def check_unused_sets(document: Document, problems: Problems) -> None:
    """Report option sets of the spec that nothing names in any scale; a library's may wait for a spec to use them."""
    sets = document.spec.define.options
    if document.scale is None and sets and not problems.errors:
        files = (document.nodes, *(source.nodes for source in document.includes))
        texts = {text for nodes in files for text in inner_texts(nodes)}
        for name in sets.keys() - texts:
            where = definition_location(document.nodes, "options", name)
            problems.add("unused-set", where, f"nothing uses the option set `{name}`", width=len(name))


# Segments of cells: names, searches, and what cannot change while a server runs


class SegmentChecks:
    """Checks of cells' segments; what cells have in common is checked once."""

    def __init__(self, entries: Iterable[StepEntry | Checkpoint], problems: Problems) -> None:
        self._problems = problems
        self._steps = {entry.name: entry for entry in entries if isinstance(entry, StepEntry)}
        self._cells: dict[tuple[int, ...], Sequence[Segment]] = {}  # by the ids of their segments, which stay theirs
        self._segments: dict[int, Segment] = {}

    def check(self, choice: Choice, segments: Sequence[Segment]) -> None:
        key = tuple(map(id, segments))
        if key not in self._cells:
            self._cells[key] = segments
            self._check_names(segments)
            for segment in segments:
                self._check_segment(choice.build, segment)
                self._check_beside(segment)
                self._check_shares(segment)

    def _check_names(self, segments: Sequence[Segment]) -> None:
        names = [step.head.name for segment in segments for step in segment.steps]
        for name, count in Counter(names).items() if len(set(names)) < len(names) else ():
            if count > 1:
                message, where = f"two steps of a cell are named `{name}`", self._steps[name].where
                self._problems.add("defined-twice", where, message, "give one of them `as: …`", len(name))
        for step in (step for segment in segments[:-1] for step in segment.steps):
            if step.setup.values.search:
                entry = self._steps[step.head.name]
                verb = "has a share of a rate" if isinstance(entry.search, RateShare) else "searches"
                message = f"step `{entry.name}` {verb} before a checkpoint: "
                message += "what follows would start from another database each time"
                hint = "put it after the last checkpoint"
                self._problems.add("search-form", entry.search_at or entry.where, message, hint)

    def _check_segment(self, build: Build, segment: Segment) -> None:
        """Check that the steps of a stage agree on their server, which they share."""
        if id(segment) in self._segments or not build.server_placeholders:
            return
        self._segments[id(segment)] = segment
        for first, second in pairwise(segment.steps):
            self._check_options(first, second)
            self._check_service(build, first, second)
        for step in segment.steps if build.service is not None else ():
            for name in unreached_options(build, step.options, step.setup.values, step.settings.values):
                message = f"the option `{name}` does not reach the service of build `{build.family}`"
                hint = f"add `\"{{options}}\"` to its `argv`, or a word with `{{{{ options['{name}'] }}}}`"
                self._problems.add("unused-option", Location.read(step.options[name].where), message, hint, len(name))

    def _check_shares(self, segment: Segment) -> None:
        """Check each rate that is a share of what another step of the segment has reached."""
        steps = {step.head.name: StepSettings(step.head.kind, step.settings.values) for step in segment.steps}
        for name, settings in steps.items():
            check_share(self._steps[name], settings, steps, self._problems)

    def _check_beside(self, segment: Segment) -> None:
        """Check that what runs beside a step begins before the step is over, as far as its duration tells."""
        main: ResolvedStep | None = None
        for step in segment.steps:
            timing = step.setup.values.timing
            if timing is None:
                main = step
                continue
            duration = units.as_number(main.settings.values.get("duration")) if main else None
            if main and duration is not None and timing.at >= duration > 0:
                name, where = step.head.name, self._steps[step.head.name].where
                message = f"`{name}` begins at {units.duration(timing.at)}, when `{main.head.name}` is over"
                hint = f"that runs for {units.duration(duration)}"
                self._problems.add("beside-form", where, message, hint, len(name.removeprefix(f"{main.head.name}/")))

    def _check_options(self, first: ResolvedStep, second: ResolvedStep) -> None:
        for name in sorted(first.options.keys() | second.options.keys()):
            before, after = first.options.get(name), second.options.get(name)
            option = after or before
            if option is not None and (before and before.value) != (after and after.value):
                message = f"`{name}` differs between `{first.head.name}` and `{second.head.name}`, which share a server"
                where = Location.read(option.where)
                self._problems.add("needs-checkpoint", where, message, _restart_hint(second), len(name))

    def _check_service(self, build: Build, first: ResolvedStep, second: ResolvedStep) -> None:
        before, after = (step.setup.values.service for step in (first, second))
        if build.service is None or before == after or not (before and after):
            return
        name = next(key for key in after.__struct_fields__ if getattr(before, key) != getattr(after, key))
        names = f"`{first.head.name}` and `{second.head.name}`"
        message = f"`{name}` of the service differs between {names}, which share it"
        where = node_location(build.service.argv[0], build.where)
        self._problems.add("needs-checkpoint", where, message, _restart_hint(second))


def _restart_hint(step: ResolvedStep) -> str:
    return f"a change needs a restart: put `{{checkpoint: NAME}}` before `{step.head.name}`"


# Servers that run already

START, MEMORY = "start", "launch.memory"
_REQUESTED = {START: "what the page cache holds", MEMORY: "what memory it may take"}


def check_local_programs(builds: Iterable[Build], spec: str, problems: Problems) -> None:
    """Check local repositories, and that the system would start programs of folders: else their builds fail."""
    for build in builds:
        for source in source_parts(build.source):
            if folder := _folder_without_repository(str(source.get("git", ""))):
                message = f"build `{build.name}`: {folder} holds no git repository"
                hint = "`git:` names the folder of `.git`"
                problems.add("wrong-source", build.where, message, hint, len(build.family))
        plugin, flags = engine(build.engine), recipe_flags(build.recipe)
        if "path" not in build.source or not isinstance(plugin, DeclaredBuilds):
            continue
        is_complete = plugin.only_choose(flags) and not build.patches
        for name in plugin.program_paths(build.recipe).values() if is_complete else ():
            path = str(PurePath(str(build.source["path"]), name))
            if not may_read(path, spec) or not holds_data(path):
                continue  # the build says what is missing
            for message, hint in _start_faults(path, LIBRARIES in build.source):
                problems.add("wrong-source", build.where, f"build `{build.name}`: `{name}` {message}", hint)


def _folder_without_repository(url: str) -> str | None:
    """Find a local folder that git would not clone; one that is not here is reported by the build."""
    folder = unquote(urlsplit(url).path) if url.startswith("file:") else ""
    is_lacking = os.path.isdir(folder) and not any(map(os.path.exists, (f"{folder}/.git", f"{folder}/objects")))  # noqa: PTH112 - no right to look is an answer
    return folder if is_lacking else None


def _start_faults(path: str, has_libraries: bool) -> Iterator[tuple[str, str]]:
    """Find why the system would not start a program, and what to do."""
    content = head(path)
    if has_libraries and is_python(path, content.decode(errors="replace")):
        return  # the Python that has them starts it
    if not Path(path).stat().st_mode & stat.S_IXUSR:
        yield "is not executable", f"chmod +x {shlex.quote(path)}"
    if not content.startswith(b"#!") and b"\0" not in content:  # neither a script nor a binary
        yield "does not begin with `#!`", "a first line is, for example, `#!/bin/sh`"


def check_running_server(document: Document, choice: Choice, segments: Sequence[Segment], problems: Problems) -> None:
    """Report what a spec cannot ask of a server that it does not start."""
    if not runs_already(choice.build.source):
        return
    points = [point for point in choice.points if point is not None]
    setups = {id(step.setup): step.setup.values for segment in segments for step in segment.steps}.values()
    requests = [START] if any(values.start for values in setups) else []
    requests += [MEMORY] if any(values.launch.memory for values in setups) else []
    for request in requests:
        where, width = _request_location(document.nodes, request, points)
        message = f"build `{choice.build.family}` is a server that already runs: `{request}` cannot be had of it"
        hint = f"who does not start it cannot say {_REQUESTED[request]}"
        problems.add("running-server", where, message, hint, width)


def check_page_list(document: Document, choice: Choice, segments: Sequence[Segment], problems: Problems) -> None:
    """Report `start: engine-warm` where the engine lists no pages that it could load."""
    points = [point for point in choice.points if point is not None]
    for values in {id(step.setup): step.setup.values for segment in segments for step in segment.steps}.values():
        if values.start != ENGINE_WARM or runs_already(choice.build.source):
            continue
        plugin, storage_engine = engine(choice.build.engine), values.storage_engine or ""
        if isinstance(plugin, SelfWarming) and not values.service and plugin.page_list(storage_engine, {}):
            continue
        where, width = _request_location(document.nodes, START, points)
        name = f"{choice.build.engine} with {storage_engine}" if storage_engine else choice.build.engine
        message = f"build `{choice.build.family}`: {name} keeps no list of the pages in its cache"
        problems.add("no-page-list", where, message, "InnoDB and PostgreSQL do; `cold` and `warm` are for all", width)


def check_equal(
    document: Document,
    choice: Choice,
    segments: Sequence[Segment],
    entries: Mapping[str, StepEntry],
    problems: Problems,
) -> None:
    """Report an engine or a step that is not what `equal` says, and a second process with a cache of its own."""
    equal, build = document.spec.equal, choice.build
    words = equal.words if equal else {}
    locations = {str(key_location(node, node.where)) for node in words.values()}
    for step in (step for segment in segments for step in segment.steps) if words else ():
        storage_engine = step.setup.values.storage_engine or ""
        rows = [row for row in equal_rows(build) if row.storage_engine in ("", storage_engine)]
        name = f"{build.engine} with {storage_engine}" if storage_engine else build.engine
        for word in words:
            if not any(getattr(row, word) for row in rows):
                message = f"`{word}`: the engine {name}, of build `{build.family}`, declares no option for it"
                where = key_location(words[word], build.where)
                problems.add("equal-form", where, message, "the plug-in of an engine declares it by `equal`", len(word))
        for name in [name for name in step.options if plain_name(name) != name]:
            if (option := step.options.get(plain_name(name))) and option.where in locations:
                where = Location.read(step.options[name].where)
                message = f"`{name}` is `{plain_name(name)}`, which `equal` sets"
                problems.add("equal-form", where, message, "leave it out here, or in `equal`", len(name))
        takes_options = "{options}" in str(step.settings.values.get("argv", "{options}"))
        if step.setup.values.timing and not build.server_placeholders and takes_options:
            for cache in [row.memory for row in rows if "memory" in words and row.memory in step.options]:
                message = f"`{step.head.name}` is a process of its own, with a second `{cache}`"
                hint = "leave `memory` out, and give each step its part of it"
                problems.add("equal-form", key_location(words["memory"], build.where), message, hint, len("memory"))
        entry = entries[step.head.name]
        if step.head.measured and (step.head.mutates or entry.timing is None):
            unreached = [] if build.server_placeholders or takes_options else locations
            promised = rows if "durability" in words else ()
            for message, hint in _contradictions(step, entry, build, promised, unreached):
                problems.add("equal-form", entry.where, message, hint, len(entry.base))


def _contradictions(
    step: ResolvedStep, entry: StepEntry, build: Build, rows: Sequence[EqualOptions], unreached: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Say where a step does not get an option of `equal`, or writes with another durability, and what to do."""
    mentioned = {name for kind, name in mentioned_by_settings(entry) if kind == OPTIONS}
    names = [name for name, option in step.options.items() if option.where in unreached and not mentioned & {name, ""}]
    if names:
        hint = f"add `\"{{options}}\"` to its `argv`, or a word with `{{{{ options['{min(names)}'] }}}}`"
        yield f"options of `equal` do not reach step `{entry.base}`: {', '.join(sorted(names))}", hint
    options = {name: option.value for name, option in step.options.items()}
    storage_engine = step.setup.values.storage_engine or ""
    classes = step_durability(step.head.kind, step.settings.values, options, build, storage_engine)
    words = {name: plain_word(value) for name, value in options.items()}
    written = {classes.get(COMMIT), step.settings.values.get("durability")} - {None} if step.head.mutates else set()
    for word, values in (pair for row in rows for pair in row.durability.items()):
        is_set = all(words.get(name) == plain_word(value) for name, value in values.items())
        for text in sorted(map(str, written)):
            if is_set and differing({COMMIT: word}, {COMMIT: text}):
                message = f"`equal` wants durability {word}; step `{entry.base}` writes with {text}"
                yield message, "leave `durability` out of `equal`, or what makes this step another"


def _request_location(nodes: Map, request: str, points: Sequence[Point]) -> tuple[Location, int]:
    """Locate the last point that requests it, else the key of the spec."""
    for point in reversed(points):
        has_memory = point.launch is not None and "memory" in point.launch.model_fields_set
        if point.start is not None if request == START else has_memory:
            return point.where, len(point.label)
    launch = nodes.get("launch")
    if request == MEMORY and isinstance(launch, Map) and "memory" in launch.at:
        return launch.at["memory"], len("memory")
    key = request.partition(".")[0]
    return nodes.at.get(key, nodes.where), len(key)
