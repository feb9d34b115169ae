"""A spec file compiled to its plan: builds with their pins, cells, stages and report. The entry of all commands."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from stepgrid.expand.axes import Axis, Point
from stepgrid.expand.builds import Build
from stepgrid.expand.cells import Expansion, expand
from stepgrid.expand.definitions import Differs, stands_in_for_none
from stepgrid.expand.search import AxisSearch
from stepgrid.language import files, lock_file
from stepgrid.language.lock_file import Releases
from stepgrid.language.problems import Location, Problem, Problems, SpecError, nearest
from stepgrid.language.sources import ReleaseQuestion, can_move, source_key, source_parts
from stepgrid.language.spec_file import Document, Tried, read_spec
from stepgrid.language.yaml import MOST_FILE_BYTES, Map, key_location, load
from stepgrid.lint import spec_rules as lint
from stepgrid.lint.subject import Places
from stepgrid.model.plan import (
    ALL,
    BUILD,
    CHANGED,
    LINK,
    Json,
    Plan,
    PlannedAxis,
    PlannedBuild,
    PlannedCell,
    PlannedSearch,
    PlannedTune,
    ProfilePass,
    encode,
)
from stepgrid.model.records import replace
from stepgrid.plan import identity, plan_file, report_check
from stepgrid.plan.order import NO_RECORDS, LoadCounts, LoadRecords
from stepgrid.plan.stage_tree import StageTree
from stepgrid.plugins.driver import POWER
from stepgrid.plugins.engine import DeclaredBuilds
from stepgrid.plugins.registry import builder, power_setting


class ExistingBuild(NamedTuple):
    digests: Collection[str]  # commits and checksums of all that it was made of
    is_local: bool  # made in this checkout; else its results were imported, with its record


PinSource: TypeAlias = Callable[[Mapping[str, Json]], str]  # the content of a system's program, of a local tree
FindBuild: TypeAlias = Callable[[str], ExistingBuild | None]  # by the build's id
AskReleases: TypeAlias = Callable[[ReleaseQuestion, Releases], Releases]  # with the answer of the lock file
Judge: TypeAlias = Callable[[Plan], Iterable[Problem]]


class CompileContext(Struct, frozen=True):
    """The part of a spec that is compiled, and what the host and the store answer; by default they know nothing."""

    only: str | None = None  # an expression that the cells must fulfil
    sets: Sequence[str] = ()  # PATH=VALUE: other values than the spec's
    differs: Differs = stands_in_for_none  # where this host is not a machine that it stands in for
    pin_source: PinSource = lambda source: ""
    keep_apart: PinSource = lambda source: ""  # how a local tree would be kept apart from outputs/ within it
    find_build: FindBuild = lambda node: None
    loads: LoadRecords = NO_RECORDS
    ask_releases: AskReleases = lambda question, locked: locked
    judge: Judge = lambda plan: ()  # further problems of the plan of a scale
    no_power_cut: str = ""  # why this host cannot cut the power of a disk


NO_CONTEXT = CompileContext()


def compile_spec(
    path: str,
    scale: str | None,
    host: Mapping[str, Json],
    problems: Problems | None = None,
    context: CompileContext = NO_CONTEXT,
) -> Plan:
    """Compile a spec; SpecError holds all of its problems. `problems` gets the warnings."""
    plan = _compile_spec(path, scale, host, problems, context)
    return replace(plan, digest=plan_file.digest(plan))


def _compile_spec(
    path: str, scale: str | None, host: Mapping[str, Json], problems: Problems | None, context: CompileContext
) -> Plan:
    """Compile a spec to a plan without its digest."""
    problems = Problems() if problems is None else problems
    document = read_spec(os.path.normpath(path), scale, problems, context.sets)
    if document is None:
        raise SpecError(problems.items)
    if document.spec.tune and not problems.errors:
        document = _find_tried(document, host, context)
    expansion = _expand(document, host, problems, context)
    if problems.errors:
        _check_declared(document, context.only, problems)
    else:
        lint.check(document, expansion, problems)
        _check_power_cuts(document, expansion, context.no_power_cut, problems)
    pins = _pins(document, expansion, problems, context)
    # other builds may use the rest of the lock file
    if not (document.spec.scales or scale or context.only or context.sets or problems.errors):
        builds = (*expansion.builds, *expansion.clients)
        _warn_of_unused_pins(document.path, (build.source for build in builds), problems)
    plan = _assemble(document, expansion, pins, problems, context)
    if problems.errors:
        raise SpecError(problems.items, plan)
    return plan


def _find_tried(document: Document, host: Mapping[str, Json], context: CompileContext) -> Document:
    """Add the points that a search has added: it is known by its axes, what it measures first, and its question."""
    problems, context = Problems(), replace(context, only=None)
    with suppress(SpecError):  # its faults are reported where the whole is compiled
        expansion = _expand(document, host, problems, context)
        plan = _assemble(document, expansion, _pins(document, expansion, problems, context), problems, context)
        stages = sorted(cell.repeats[0].stages[-1] for cell in plan.cells)
        axes = plan.tune and plan.tune.axes
        text = encode([axes, stages, plan.report.best, plan.report.pareto])
        key = f"tune-{hashlib.sha256(text.encode()).hexdigest()[:20]}"
        record = context.loads.search(key)
        return document._replace(tried=Tried(key, record.points, record.finalists))
    return document


def check_scales(
    path: str,
    host: Mapping[str, Json],
    problems: Problems,
    base: Plan | None = None,
    context: CompileContext = NO_CONTEXT,
) -> None:
    """Add what is wrong in the scales of a spec that is not wrong without them, with the scales' names.

    `base`: the plan of the spec without a scale; with it, also pins of the lock file that no scale uses."""
    reported = {_problem_key(problem) for problem in problems.items}
    scales_by_problem: dict[Problem, list[str]] = {}
    plans = [base]
    for scale in scales(path):
        errors: Sequence[Problem] = ()
        draft: Plan | None
        try:
            draft = _compile_spec(path, scale, host, None, CompileContext(differs=context.differs))
            plans.append(draft)
        except SpecError as error:
            draft, errors = error.draft, [problem for problem in error.problems if problem.severity == "error"]
            plans.append(None)
        for problem in (*errors, *(context.judge(draft) if draft else ())):
            if _problem_key(problem) not in reported:
                scales_by_problem.setdefault(problem, []).append(f"`{scale}`")
    if None not in plans:
        sources = [build.source for plan in plans if plan is not None for build in plan.builds]
        _warn_of_unused_pins(os.path.normpath(path), sources, problems)
    for problem, names in scales_by_problem.items():
        word = "scales" if len(names) > 1 else "scale"
        problems.append(problem._replace(message=f"{word} {', '.join(names)}: {problem.message}"))


def scales(path: str) -> list[str]:
    """List the names of a spec's scales. A file without the word has none, and is not parsed for it."""
    with suppress(OSError):
        if b"scales" not in files.head(path, MOST_FILE_BYTES):
            return []
    nodes = load(os.path.normpath(path), Problems())
    names = nodes.get("scales") if nodes is not None else None
    return list(names) if isinstance(names, Map) else []


def _expand(document: Document, host: Mapping[str, Json], problems: Problems, context: CompileContext) -> Expansion:
    lock_problems = Problems()  # reported with the lock file's pins
    lock = lock_file.read(document.path, lock_problems)
    if not lock_problems.errors:
        document = document._replace(find_releases=lambda q: context.ask_releases(q, lock.versions.get(q.key, {})))
    try:
        return expand(document, host, problems, context.only, context.differs)
    except SpecError:
        _check_declared(document, context.only, problems)
        lock_file.read(document.path, problems)
        raise SpecError(problems.items) from None


def _check_declared(document: Document, only: str | None, problems: Problems) -> None:
    """Check what needs no cells."""
    lint.check_codes(document, problems)
    if only is None:
        report_check.check_declared(document, problems)


def _check_power_cuts(document: Document, expansion: Expansion, reason: str, problems: Problems) -> None:
    """Warn of steps that need the disk of another host."""
    locations = Places(document, expansion)
    segments = {id(segment): segment for cell in expansion.cells for segment in cell.segments} if reason else {}
    for step in (step for segment in segments.values() for step in segment.steps):
        if setting := power_setting(step.head.kind, step.settings.values):
            message = f"this host cannot cut the power of a disk: {reason}"
            where = locations.of_step(step.head.name, setting, POWER)
            problems.warn("no-power-cut", where, message, "run it on a host that can, as root")


def _problem_key(problem: Problem) -> tuple[str, Location, str]:
    return problem.code, problem.where, problem.message


# The plan of an expansion


def _assemble(
    document: Document, expansion: Expansion, pins: Mapping[str, Pins], problems: Problems, context: CompileContext
) -> Plan:
    """Plan the cells. With errors it is a draft: nothing more is reported."""
    spec, is_narrowed = document.spec, bool(context.only or problems.errors)
    problems = Problems() if problems.errors else problems
    links = {
        build.name: [_plan_build(link, pins[build.name], context.find_build) for link in _links(build)]
        for build in (*expansion.builds, *expansion.clients)
    }
    ids = {name: [build.id for build in builds] for name, builds in links.items()}
    axis_names = [axis.name for axis in expansion.axes]
    tree = StageTree(spec, axis_names, ids, _load_counts(document, context.loads))
    cells = tree.add_others(expansion.cells, [tree.add(cell) for cell in expansion.cells])
    used = {draft.build for draft in tree.drafts.values()}  # fewer loads than links leave some out
    builds = [
        build for numbered in links.values() for build in numbered if LINK not in build.recipe or build.id in used
    ]
    _check_identical_points(expansion, cells, problems)
    axes = _axes(expansion, cells)
    _check_profiled_steps(document, cells, problems)
    steps = {node: draft.steps for node, draft in tree.drafts.items()}
    # the report is about more cells than those of a narrowed plan
    report = report_check.compile_report(document, axes, cells, steps, Problems() if is_narrowed else problems)
    if context.only:
        swept = {axis.name: {point.label for point in axis.points} for axis in expansion.axes}
        report_check.check_declared(document, problems, {**swept, BUILD: set(expansion.build_names)})
    return Plan(
        digest="",
        title=spec.title,
        spec=document.path,
        scale=document.scale,
        axes=axes,
        cells=cells,
        builds=tuple(sorted({build.id: build for build in builds}.values(), key=lambda build: build.id)),
        stages=tree.stages(),
        hardware=identity.machine(expansion.hardware),
        report=report,
        warnings=tuple(f"{problem.where}: {problem.message}" for problem in problems.warnings),
        machines=dict(sorted(tree.machines.items())),
        share=spec.share,
        until=spec.repeat.adaptive,
        searches=tuple(dict.fromkeys(_searches(cells, tree))),
        profile=ProfilePass(tuple(map(str, spec.profile.where)) or (CHANGED,), tree.profiles) if spec.profile else None,
        design=expansion.design,
        tune=_plan_tune(document, expansion) if spec.tune else None,
        equal=tuple(str(key_location(node, node.where)) for node in (spec.equal.words if spec.equal else {}).values()),
    )


def _plan_tune(document: Document, expansion: Expansion) -> PlannedTune | None:
    tune, tried = document.spec.tune, document.tried
    assert tune is not None
    axes = [PlannedAxis(axis.name, tuple(point.label for point in axis.points)) for axis in expansion.axes]
    if len(expansion.build_names) > 1:
        axes.insert(0, PlannedAxis(BUILD, tuple(expansion.build_names)))
    return PlannedTune(
        *(tried.key, tuple(axes), tuple(tried.points), document.spec.seed),
        *(tune.confirm, tune.budget, tune.tries, tune.step and str(tune.step)),
        forbidden=tuple(expansion.forbidden),
        finalists=tuple(tried.finalists),
    )


def _check_profiled_steps(document: Document, cells: Iterable[PlannedCell], problems: Problems) -> None:
    """Report steps that a profile names and no cell measures."""
    measured = {step.name: step for cell in cells for step in cell.steps if step.measured}.values()
    names = [CHANGED, ALL, *dict.fromkeys(name for step in measured for name in (step.name, step.step) if name)]
    for label in document.spec.profile.where if document.spec.profile else ():
        if label not in names:
            message = f"`profile`: no cell measures a step `{label}`"
            problems.add("undefined-name", label.where, message, nearest(label, names), len(label))


def _load_counts(document: Document, records: LoadRecords) -> LoadCounts:
    """Add to a fixed number what a claim asks for, to confirm it."""
    repeat, claims = document.spec.repeat, document.spec.claims
    fresh = max((claim.confirm or 0 for claim in claims), default=0) if repeat.until is None else 0
    if tune := document.spec.tune:
        finalists, fresh, requested = frozenset(document.tried.finalists), max(fresh, tune.confirm), records.requested
        least = 1 + tune.confirm
        records = records._replace(requested=lambda last: max(requested(last), least if last in finalists else 0))
    return LoadCounts(repeat.fewest, repeat.highest + fresh, records, repeat.until is not None)


def _axes(expansion: Expansion, cells: Sequence[PlannedCell]) -> tuple[PlannedAxis, ...]:
    """List the build axis, the sweep's, and variables of live grids, with the labels that cells have, in order."""
    axes = [PlannedAxis(BUILD, tuple(dict.fromkeys(cell.labels[BUILD] for cell in cells)))]
    for axis in expansion.axes:
        used = {cell.labels.get(axis.name) for cell in cells}
        labels = tuple(point.label for point in axis.points if point.label in used)
        axes.append(PlannedAxis(axis.name, labels, expansion.changes[axis.name]))
    values: dict[str, dict[str, None]] = defaultdict(dict)
    step_names: dict[str, dict[str, None]] = defaultdict(dict)
    for step in (step for cell in cells for step in cell.steps):
        for name, value in step.variables.items():
            values[name][value] = None
            step_names[name][step.step] = None
    return (*axes, *(PlannedAxis(name, tuple(values[name]), tuple(step_names[name])) for name in values))


def _searches(cells: Iterable[PlannedCell], tree: StageTree) -> Iterator[PlannedSearch]:
    """Yield the searches of live grids."""
    for cell in cells:
        chain = cell.repeats[0].stages
        for step in cell.steps:
            setup = tree.drafts[chain[step.stage]].steps[step.index].setup
            if step.measured and step.variables and (search := AxisSearch.from_setup(setup)):
                ends = search.least, search.most
                yield PlannedSearch(step.step, search.variable, search.param, *ends, search.objective, search.points)


def _check_identical_points(expansion: Expansion, cells: Sequence[PlannedCell], problems: Problems) -> None:
    """Report points that make no difference: an axis whose points resolve alike in every cell compares nothing."""
    axes: Iterable[Axis] = expansion.axes
    if any("real" in cell.hardware for cell in expansion.cells):  # a host that stands in for several machines
        axes = [axis for axis in axes if all(point.hardware is None for point in axis.points)]
    counts = Counter(cell.repeats[0].stages for cell in cells)
    unique_cells = [cell for cell in cells if counts[cell.repeats[0].stages] == 1]
    for axis in axes:
        unique_labels = {cell.labels.get(axis.name) for cell in unique_cells}
        points = [point for point in axis.points if point.label not in unique_labels]
        for group in _identical_points(axis.name, points, cells) if len(points) > 1 else ():
            names = " and ".join(f"`{point.label}`" for point in group)
            message = f"{names} of axis `{axis.name}` are the same in every cell"
            hint = "something later sets it again (a step's options), or the steps that the axis changes do not use it"
            problems.add("points-alike", group[-1].where, message, hint)


def _identical_points(axis: str, points: Sequence[Point], cells: Iterable[PlannedCell]) -> Iterator[list[Point]]:
    """Group points by their stages at each combination of labels on the other axes."""
    stages: dict[str, dict[frozenset[tuple[str, str]], tuple[str, ...]]] = defaultdict(dict)
    for cell in cells:
        if axis in cell.labels:
            labels = frozenset((name, label) for name, label in cell.labels.items() if name != axis)
            stages[cell.labels[axis]][labels] = cell.repeats[0].stages
    groups: dict[frozenset[Any], list[Point]] = defaultdict(list)
    for point in points:
        groups[frozenset(stages.get(point.label, {}).items())].append(point)
    return (group for group in groups.values() if len(group) > 1 and stages.get(group[0].label))


# Builds: what holds them still, and their ids


def _pins(document: Document, expansion: Expansion, problems: Problems, context: CompileContext) -> Mapping[str, Pins]:
    lock = lock_file.read(document.path, problems)
    builds = (*expansion.builds, *expansion.clients)
    return {build.name: _pin(build, document.path, lock, problems, context) for build in builds}


class Pins(NamedTuple):
    sources: Mapping[str, str]  # source -> commit, checksum or content
    patches: Sequence[tuple[str, str]]  # path and checksum, in order

    def text(self, omitted: Collection[str] = ()) -> str:
        """Join what the build's id has of them: contents, and no name of a file or a source."""
        parts = [pin for source, pin in self.sources.items() if source not in omitted]
        if self.patches:
            checksums = b"".join(bytes.fromhex(checksum) for _, checksum in self.patches)
            parts.append(hashlib.sha256(checksums).hexdigest())
        return " ".join(parts)


def _pin(build: Build, spec: str, lock: lock_file.Lock, problems: Problems, context: CompileContext) -> Pins:
    """Pin a build by the lock file, the content of what is on this machine, and the contents of patches."""
    pins: dict[str, str] = {}
    for source in source_parts(build.source):
        key = source_key(source)
        if hint := context.keep_apart(source):
            message = f"build `{build.family}`: the tree `{source['path']}` holds outputs/, so each stage changes it"
            problems.add("outputs-in-tree", build.where, message, hint, len(build.family))
        elif pin := lock_file.pin_digest(lock.pins.get(key, "")) if can_move(source) else context.pin_source(source):
            pins[key] = pin
    for program in _sibling_programs(build):
        if pin := context.pin_source(program):
            pins[source_key(program)] = pin
    return Pins(pins, lock_file.patches(build.patches, spec, problems))


def _sibling_programs(build: Build) -> list[Mapping[str, str]]:
    """List the other programs of a `system` source, which stand beside the first or are on PATH as well."""
    kind = builder(build.engine)
    if "system" not in build.source or kind is None:
        return []
    first = PurePath(str(build.source["system"]))
    names = tuple(kind.program_paths(build.recipe)) if isinstance(kind, DeclaredBuilds) else kind.programs
    return [{"system": str(first.parent / name)} for name in names if len(names) > 1 and name != first.name]


def _warn_of_unused_pins(spec: str, sources: Iterable[Mapping[str, Json]], problems: Problems) -> None:
    keys = {source_key(part) for source in sources for part in source_parts(source) if can_move(part)}
    lock_file.warn_of_unused(lock_file.read(spec, Problems()), keys, problems)


def _links(build: Build) -> Iterator[Build]:
    """Yield a build for each of its links; the first is the build as it is without `relinks`."""
    yield build
    for number in range(2, build.relinks + 1):
        yield replace(build, name=f"{build.name}-link-{number}", recipe={**build.recipe, LINK: number})


def _plan_build(build: Build, pins: Pins, find_build: FindBuild) -> PlannedBuild:
    """Plan a build. Its job goes by all pins, whichever of them are in the id: made again, it is made of the same."""
    existing = list(_existing_pins(build, pins, find_build))
    # a build of this checkout comes first, and one with all pins before one with fewer
    pin = next((pin for pin, is_local in existing if is_local), existing[0][0] if existing else pins.text())
    patches: list[Json] = [{"path": path, "sha256": checksum} for path, checksum in pins.patches]
    return PlannedBuild(
        _build_id(build, pin),
        build.name,
        build.engine,
        build.version,
        build.source,
        str(build.where),
        {**build.recipe, **({"patches": patches} if patches else {})},
        pin,
        pins.sources,
    )


def _existing_pins(build: Build, pins: Pins, find_build: FindBuild) -> Iterator[tuple[str, bool]]:
    """Yield the pins in ids of builds that exist, by all and by fewer, and whether each is local.

    A build that was made before its sources were locked, or when only its first program counted, keeps the id that it
    had then, and with it its results, if it was made of what is pinned now."""
    movable = [source_key(part) for part in source_parts(build.source) if can_move(part)]
    programs = tuple(key for key in map(source_key, _sibling_programs(build)) if key in pins.sources)
    locked = [*((key,) for key in movable if key in pins.sources), *([programs] if programs else [])]
    for count in range(len(locked) + 1) if locked else ():
        for groups in combinations(locked, count):
            omitted = [key for group in groups for key in group]
            pin = pins.text(omitted)
            existing = find_build(_build_id(build, pin))
            if existing and all(lock_file.content_digest(pins.sources[key]) in existing.digests for key in omitted):
                yield pin, existing.is_local


def _build_id(build: Build, pin: str) -> str:
    """Identify a build by what holds it still; of patches that has the contents."""
    return identity.build_id(build.engine, build.version, build.source, pin, build.recipe)
