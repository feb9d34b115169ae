"""All rules over a spec, and those of any spec: comparisons, repeats, refs, checkpoints, length and load of steps."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import TypeAlias

from stepgrid.expand.builds import Build
from stepgrid.expand.cells import Cell, Expansion
from stepgrid.expand.evaluation import Segment
from stepgrid.language import lock_file
from stepgrid.language.problems import Location, Problem, Problems, nearest
from stepgrid.language.sources import TREES, can_move, declared_libraries, source_key, source_kind, source_parts
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map
from stepgrid.lint.rule import Facts, LintFinding, Rule, RuleProvider, Verdict, each_step
from stepgrid.lint.subject import COUNTED, LintSubject
from stepgrid.model.plan import CLIENT, SAME_QUALITY, recipe_flags
from stepgrid.model.table import group
from stepgrid.model.units import counted, duration, size
from stepgrid.plugins.driver import CountedWork
from stepgrid.plugins.durability import COMMIT, differing, step_durability
from stepgrid.plugins.engine import DeclaredBuilds, PublishedLibraries, ReadOptions
from stepgrid.plugins.registry import COLLECTORS, DRIVERS, ENGINES, build_systems, driver, engine
from stepgrid.plugins.work import CLIENT_COUNTS

SHORTEST = 60.0  # seconds
SHORTEST_WORK = 0.05  # seconds of a step that rows end, on a small machine
_COUNTS = tuple(f"step.{name}" for name in CLIENT_COUNTS)
Load: TypeAlias = tuple[Segment, ...]  # that a cell begins with
Classes: TypeAlias = Mapping[str, str]  # of durability, by what is promised
_DURABILITY_HINT = (
    "one class for all arms: `durability` of a command, `sync` and `disable_wal` of db_bench, a server's options of "
    "commits and logs; or `allow: {mixed-durability: REASON}`"
)
_WORTH = 3600.0  # seconds that a missing checkpoint costs


def _no_base(subject: LintSubject) -> Iterator[LintFinding]:
    base = {axis: str(label) for axis, label in subject.spec.report.base.items()}
    labels = {axis.name: {point.label for point in axis.points} for axis in subject.expansion.axes}
    labels["build"] = {build.name for build in subject.expansion.builds}
    if not base or any(label not in labels.get(axis, ()) for axis, label in base.items()):
        return  # an undefined axis or label is an error, which is reported
    if any(base.items() <= subject.labels(position).items() for position in range(len(subject.cells))):
        return
    listed = ", ".join(f"{axis} {label}" for axis, label in base.items())
    message = f"no cell is at the base, {listed}: nothing can be compared with it"
    yield LintFinding(
        subject.places.key("report", "base"), message, "`exclude` or a point's `when` leaves it out", width=4
    )


def compares_builds(subject: LintSubject, *axes: str) -> bool:
    """Decide if builds (or points of these axes) are compared: a base of others is in the cells of each build."""
    base = subject.spec.report.base
    return not base or not base.keys().isdisjoint(("build", *axes))


def _mixed_quality(subject: LintSubject) -> Iterator[LintFinding]:
    """Find builds that will get no verdict, of one engine or of the clients of one step."""
    is_strict = subject.spec.strict == SAME_QUALITY
    if compares_builds(subject):
        by_engine = group((build.engine, build) for build in subject.expansion.builds)
        for builds in by_engine.values():
            yield from _refused("builds", builds, is_strict)
    axes = subject.expansion.axes
    client_axes = [axis.name for axis in axes if any(CLIENT in (point.params or {}) for point in axis.points)]
    if compares_builds(subject, *client_axes):
        clients = {build.name: build for build in subject.expansion.clients}
        steps = [row.step for row in subject.table.rows]
        by_step = group((step.head.name, clients[step.setup.client.name]) for step in steps if step.setup.client)
        for builds in by_step.values():
            yield from _refused("clients", builds, is_strict)


def _refused(noun: str, builds: Sequence[Build], is_strict: bool) -> Iterator[LintFinding]:
    ways: dict[str, Build] = {}
    for build in builds:
        ways.setdefault(_quality(build) if is_strict else _checked_quality(build), build)
    if len(ways) > 1:
        second = list(ways.values())[1]
        listed = "; ".join(f"{build.name}: {quality}" for quality, build in ways.items())
        message = f"{noun} may get no verdict against each other: {listed}"
        hint = "one route and the same flags for all; or `allow: {mixed-quality: REASON}` compares them as shipped"
        yield LintFinding(second.where, message, hint, width=len(second.family))


def _mixed_durability(subject: LintSubject) -> Iterator[LintFinding]:
    """Find steps that write, and promise more in one arm than in another."""
    by_segment: dict[int, dict[str, Classes]] = {}
    for cell in subject.cells:
        for segment in cell.segments:
            if id(segment) not in by_segment:
                by_segment[id(segment)] = dict(_write_classes(segment, cell.choice.build))
    by_step = group((step, classes) for part in by_segment.values() for step, classes in part.items())
    for step in [step for step, members in by_step.items() if any(members[0] != classes for classes in members)]:
        arms = defaultdict[tuple[object, ...], dict[str, tuple[int, Classes]]](dict)
        for position, cell in enumerate(subject.cells):
            parts = [by_segment[id(segment)] for segment in cell.segments]
            for classes in [part[step] for part in parts if step in part]:
                for neighbours, arm in _compared_arms(subject, position):
                    arms[neighbours].setdefault(arm, (position, classes))
        yield from _unequal_arms(subject, step, list(arms.values()))


def _compared_arms(subject: LintSubject, position: int) -> Iterator[tuple[tuple[object, ...], str]]:
    """Name a cell as an arm of each axis that is compared, with those that it is compared with."""
    labels, base = subject.labels(position), subject.spec.report.base
    for axis in [axis for axis in labels if not base or axis in base]:
        neighbours = tuple((name, label) for name, label in labels.items() if name != axis)
        yield (axis, *neighbours), labels[axis] if axis == "build" else f"{axis}={labels[axis]}"


def _write_classes(segment: Segment, build: Build) -> Iterator[tuple[str, Classes]]:
    for step in segment.steps:
        if step.head.measured and step.head.mutates:
            options = {name: option.value for name, option in step.options.items()}
            storage_engine = step.setup.values.storage_engine or ""
            classes = step_durability(step.head.kind, step.settings.values, options, build, storage_engine)
            if classes:
                yield step.head.name, classes


def _unequal_arms(
    subject: LintSubject, step: str, arms: Sequence[Mapping[str, tuple[int, Classes]]]
) -> Iterator[LintFinding]:
    cells, listed = set[int](), ""
    for members in arms:
        first = next(iter(members.values()))[1]
        names = dict.fromkeys(name for _, classes in members.values() for name in differing(first, classes))
        if not names:
            continue
        cells |= {position for position, _ in members.values()}
        by_class: dict[str, str] = {}
        for arm, (_, classes) in members.items():
            words = [
                classes[name] if name == COMMIT else f"{name} {classes[name]}" for name in names if name in classes
            ]
            by_class.setdefault(", ".join(words), arm)
        listed = listed or ", ".join(f"`{text}` under {arm}" for text, arm in by_class.items())
    if cells:
        message = f"step `{step}` writes with unequal durability: {listed}"
        yield LintFinding(subject.places.of_step(step, "durability"), message, _DURABILITY_HINT, cells)


# flags that decide how fast the code is; the others say what is in it
_FLAGS = frozenset({
    "command", "system", "cc", "cxx", "cflags", "cxxflags", "march", "assertions", "type", "OPTIMIZE_LEVEL",
    "DEBUG_LEVEL", "PORTABLE", "CMAKE_BUILD_TYPE", "CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS",
})  # fmt: skip
# flags and values that bring assertions or sanitizers, or take optimization away
_SLOW = re.compile(r"assertions true|type Debug|DEBUG_LEVEL [12]|-O0|-fsanitize|WITH_\w+SAN (?:1|ON)", re.IGNORECASE)
_COMPILED, _LIBRARY = "compiled from source", "official library"


def _quality(build: Build) -> str:
    """Describe a build as the finished one will: source march native, library, debian bookworm, system …"""
    way = _way(build)
    if way != _COMPILED:
        # another suite is another compiler, and nothing is known of two servers
        return " ".join([way, *(str(build.source[name]) for name in ("suite", "server") if name in build.source)])
    default = {"system": (*build_systems(build.engine), "")[0], "assertions": "false"}
    flags = {**default, **_flags(build)}
    changed = sorted(name for name in _FLAGS & flags.keys() if flags[name] != default.get(name))
    return ", ".join([way, *(f"{name} {flags[name]}" for name in changed)])


def _checked_quality(build: Build) -> str:
    """Describe what decides if there is a verdict, as far as a spec tells: packages may have assertions."""
    way = _way(build)
    if way == "server":
        return f"a server that already runs ({build.source[way]})"
    if way in (_COMPILED, _LIBRARY):
        slow = [text for name, value in _flags(build).items() if _SLOW.search(text := f"{name} {value}")]
        return ", ".join(slow or ["without assertions"])
    return "a program of this machine" if way == "system" else "published programs"


def _way(build: Build) -> str:
    kind = source_kind(build.source) or ""
    if kind in TREES and (kind != "pypi" or build.source.get("kind") == "sdist"):
        return _COMPILED
    return _LIBRARY if kind == "maven" and isinstance(engine(build.engine), PublishedLibraries) else kind


def _flags(build: Build) -> dict[str, str]:
    return {name: str(value) for name, value in recipe_flags(build.recipe).items()}


def _no_repeats(subject: LintSubject) -> Iterator[LintFinding]:
    repeat = subject.spec.repeat
    if len(subject.cells) < 2 or repeat.highest > 1 or subject.spec.tune:
        return
    message = f"{len(subject.cells):,} cells are compared and each is loaded once: there can be no verdict"
    if repeat.runs > 1:
        message = f"{repeat.runs} runs of one load are no repeats: they share its tree, so there can be no verdict"
    hint = "`repeat: 3`; one load gives ratios and at most the word indicative"
    yield LintFinding(subject.places.key("repeat"), message, hint, width=6 if "repeat" in subject.document.nodes else 5)


# the name of a release (v9.9.3, mysql-8.0.31, REL_15_1, REL_19_BETA1), or the beginning of a commit
_FIXED = re.compile(
    r"^refs/tags/.|(?<![0-9.])\d++[._]\d++[._]\d|\bv\d++\.\d++$|^REL_?\d++_(?:BETA|RC)?\d++$|^[0-9a-f]{7,}$"
)
_RELATIVE = re.compile(r"(?:[~^]\d{0,9}|\^\{\w{0,20}\}){1,20}$")  # REF^


def _open_refs(subject: LintSubject) -> Iterator[LintFinding]:
    hint = "`stepgrid lock` writes it into the lock file; `NAME==VERSION` is as good"
    open_parts = [
        (build, source, f"`{library.text}` takes several versions, and nothing says which", hint)
        for build in subject.expansion.builds
        for source in source_parts(build.source)
        for library in declared_libraries(source)
        if not library.version and not library.hashes
    ]
    hint = "`stepgrid lock` writes its commit into the lock file; a tag or a commit is as good"
    for build in (*subject.expansion.builds, *subject.expansion.clients):
        for source in source_parts(build.source):
            ref = str(source.get("ref", ""))
            if "git" in source and can_move(source) and not _FIXED.search(_RELATIVE.sub("", ref)):
                message = f"`{source.get('ref')}` names no release, so it may be a branch, and nothing says its commit"
                open_parts.append((build, source, message, hint))
    pins = lock_file.read(subject.document.path, Problems()).pins if open_parts else {}
    for build, source, message, hint in open_parts:
        if source_key(source) not in pins:
            yield LintFinding(build.where, message, hint, width=len(build.family))


def _missing_checkpoint(subject: LintSubject) -> Iterator[LintFinding]:
    """Find the beginning that cells have in common, run each for itself, and that takes longest."""
    saved = defaultdict[str, float](float)
    for segments in _by_parent(subject).values():
        for step, seconds in _shared_beginnings(list(segments.values())):
            saved[step] += seconds * subject.spec.repeat.fewest
    step, seconds = max(saved.items(), key=lambda entry: entry[1], default=("", 0.0))
    if seconds >= _WORTH:
        message = f"a checkpoint after step `{step}` would save {duration(seconds)}: cells repeat what leads to it"
        hint = f"add `{{checkpoint: NAME}}` after `{step}`, and `from: NAME` to the axes that change only what follows"
        yield LintFinding(subject.places.of_step(step, None), message, hint, width=len(step))


def _by_parent(subject: LintSubject) -> Mapping[tuple[int, ...], dict[int, Segment]]:
    """Group the distinct segments by those before them."""
    by_path = defaultdict[tuple[int, ...], dict[int, Segment]](dict)
    for segments in {tuple(map(id, cell.segments)): cell.segments for cell in subject.cells}.values():
        path: tuple[int, ...] = ()
        for segment in segments:
            by_path[path][id(segment)] = segment
            path = (*path, id(segment))
    return by_path


def _shared_beginnings(segments: Sequence[Segment]) -> Iterator[tuple[str, float]]:
    """List steps that end a shared beginning, with the seconds that sharing it saves."""
    groups = [segments]
    length = 1
    while groups:
        longer = (segment for members in groups for segment in members if len(segment.steps) > length)
        closer = group((tuple(map(id, segment.steps[:length])), segment) for segment in longer)
        groups = [members for members in closer.values() if len(members) > 1]
        for members in groups:
            beginning = members[0].steps[:length]
            yield beginning[-1].head.name, (len(members) - 1) * sum(step.settings.seconds for step in beginning)
        length += 1


def _repeated_loads(subject: LintSubject) -> Iterator[LintFinding]:
    """Find axes that load once for each point, though their options change no database."""
    checkpoints = subject.expansion.before_checkpoints
    checkpoint = next((name for name, steps in checkpoints.items() if steps), None)
    if checkpoint is None or subject.spec.share is False:
        return
    for position, axis in enumerate(subject.expansion.axes):
        if axis.start is None and axis.steps is None:
            names, stages = _needless_loads(subject.cells, position, checkpoints[checkpoint])
            if count := stages * subject.spec.repeat.fewest:
                listed = " and ".join(f"`{name}`" for name in sorted(names))
                verb = "change" if len(names) > 1 else "changes"
                message = f"axis `{axis.name}` repeats the load for each value, but {listed} {verb} no database"
                hint = f"`from: {checkpoint}` saves {counted(count, 'stage')}"
                yield LintFinding(axis.where, message, hint, width=len(axis.name))


def _needless_loads(cells: Sequence[Cell], axis: int, before: frozenset[str]) -> tuple[set[str], int]:
    """Name the options by which the loads of an axis differ, and count the stages that one point would spare."""

    def precedes(segment: Segment) -> bool:
        return all(step.head.name in before for step in segment.steps)

    def neighbourhood(cell: Cell) -> tuple[object, ...]:
        points = [point for position, point in enumerate(cell.choice.points) if position != axis]
        return cell.choice.build, id(cell.hardware), *points

    names, loads_of_cells, loads_of_groups = set[str](), list[Load](), list[Load]()
    changed_options = cache(_changed_options)  # a grid has few loads
    for members in group((neighbourhood(cell), cell) for cell in cells).values():
        loads = [tuple(filter(precedes, cell.segments)) for cell in members]
        if any(load == cell.segments for load, cell in zip(loads, members, strict=True)):
            return set(), 0  # nothing comes after
        kind = engine(members[0].choice.build.engine)
        patterns = kind.read_options if isinstance(kind, ReadOptions) else ()
        for load in loads:
            options = changed_options(loads[0], load)
            if options is None or not all(any(fnmatchcase(name, like) for like in patterns) for name in options):
                return set(), 0
            names |= options
        loads_of_cells += loads
        loads_of_groups.append(loads[0])
    return names, _count_stages(loads_of_cells) - _count_stages(loads_of_groups)


def _changed_options(first: Load, second: Load) -> set[str] | None:
    """Name the options by which two loads differ; None if they differ in more, or time ends a step."""
    steps, second_steps = ([step for segment in load for step in segment.steps] for load in (first, second))
    names = set[str]()
    if len(steps) != len(second_steps):
        return None
    for one, other in zip(steps, second_steps, strict=True):
        is_timed = one.settings.seconds == one.settings.values.get("duration")
        is_alike = one.head.name == other.head.name and one.settings.values == other.settings.values
        if (one.head.measured and is_timed) or not is_alike or one.setup != other.setup:
            return None
        names |= {name for name in {*one.options, *other.options} if one.options.get(name) != other.options.get(name)}
    return names


def _count_stages(loads: Iterable[Load]) -> int:
    return len({load[: length + 1] for load in {*loads} for length in range(len(load))})


def _few(facts: Facts) -> Verdict | None:
    work: CountedWork = facts[COUNTED]
    if not facts["measured"] or work.seconds >= SHORTEST_WORK:
        return None
    message = f"step `{facts['step']}` ends within milliseconds: {work.operations:,.0f} {work.setting}"
    hint = f"its figures would be noise: say more `{work.setting}`; for a try: `allow: {{rows-few: …}}`"
    return Verdict(f"step.{work.setting}", message, hint)


def _short(facts: Facts) -> Verdict | None:
    seconds = facts.amount("step.duration", 0)
    if not facts["measured"] or not 0 < seconds < SHORTEST:
        return None
    message = f"step `{facts['step']}` is measured for {seconds:g} s: an engine is not in a steady state by then"
    hint = "published figures take 300 s to 1800 s; for a try: `allow: {step-short: …}`"
    return Verdict("step.duration", message, hint)


def _more_than_cores(facts: Facts) -> Verdict | None:
    cores = facts.amount("hardware.cores", 0)
    threads = facts.amount("hardware.threads", cores * (2 if facts.is_on("hardware.smt") else 1))
    for name in _COUNTS:
        clients = facts.amount(name, 0)
        if facts["measured"] and clients > threads > 0:
            message = (
                f"step `{facts['step']}` has {clients:,.0f} clients, the machine runs {threads:,.0f} threads at once"
            )
            return Verdict(name, message, "beyond that, waiting for a processor is measured as well")
    return None


def cache_over_memory(*options: str) -> Rule:
    """Make the rule of an engine whose `options` set the memory that it takes for its data."""

    def judge(facts: Facts) -> Verdict | None:
        memory = facts.amount("hardware.memory", 0)
        for name in options:
            cache = facts.amount(name, 0)
            if cache > memory > 0:
                message = f"`{name}` is {size(cache)}, the machine has {size(memory)}"
                return Verdict(name, message, "published setups give 0.6 to 0.8 of the memory to the cache")
        return None

    check = each_step(options, judge, ("hardware.memory",))
    return Rule("cache-over-memory", "a cache larger than the memory", check)


def _shared_programs(subject: LintSubject) -> Iterator[LintFinding]:
    """Find builds of a local folder that consist of the programs of other versions, too."""
    local = (build for build in subject.expansion.builds if "path" in build.source)
    families = group((build.family, build) for build in local if isinstance(engine(build.engine), DeclaredBuilds))
    for builds in families.values():
        versions = {build.version for build in builds} - {""}
        finding = next((fault for build in builds for fault in _programs_of_others(build, versions)), None)
        if finding:
            yield finding


def _programs_of_others(build: Build, versions: Iterable[str]) -> Iterator[LintFinding]:
    kind = engine(build.engine)
    assert isinstance(kind, DeclaredBuilds)
    for path in kind.program_paths(build.recipe).values():
        other = next((version for version in sorted(versions, key=len, reverse=True) if version in path), build.version)
        if other != build.version:
            message = f"`{build.name}` consists of {path}, too: an edit of it measures the cells of all versions again"
            hint = f'one program for each version: `programs: "{path.replace(other, "{{ version }}")}"`'
            yield LintFinding(build.where, message, hint, width=len(build.family))


LINKED = tuple(kind for kind in TREES if kind != "pypi")  # sources whose programs are linked here


def _without_link(subject: LintSubject) -> Iterator[LintFinding]:
    """Find builds that cannot be linked in several orders."""
    clients = {build.family for build in subject.expansion.clients}
    for build, where in _relinked_builds(subject):
        kind, reason = source_kind(build.source), ""
        if kind not in LINKED:
            reason = f"a {kind} source brings programs that are linked already"
        elif isinstance(engine(build.engine), DeclaredBuilds) and "command" not in recipe_flags(build.recipe):
            reason = "nothing is linked without `flags: {command: …}`"
        elif build.family in clients:
            reason = "a client has one link for all loads"
        if reason:
            hint = f"leave `relinks` out; programs of these sources are linked here: {', '.join(LINKED)}"
            yield LintFinding(where, f"build `{build.family}`: {reason}", hint, width=len("relinks"))


def _repeated_links(subject: LintSubject) -> Iterator[LintFinding]:
    loads = subject.spec.repeat.highest
    for build, where in _relinked_builds(subject):
        if build.relinks < loads:
            message = f"`{build.family}` has {build.relinks} links for {loads} loads: intervals count loads of one link"
            hint = f"`relinks: {loads}`, or {build.relinks} loads"
            yield LintFinding(where, f"{message} as independent", hint, width=len("relinks"))


def _relinked_builds(subject: LintSubject) -> Iterator[tuple[Build, Location]]:
    """Yield one build of each family that has several links."""
    builds = {build.family: build for build in (*subject.expansion.builds, *subject.expansion.clients)}
    for build in builds.values():
        if build.relinks > 1:
            yield build, subject.places.key("builds", build.family, "relinks")


_CORE_NAMES = ("step", "measured", *_COUNTS, "hardware.smt", "hardware.threads")


def _renamed(subject: LintSubject) -> Iterator[LintFinding]:
    """Tell what became of options under names of other releases, each once with the cells that it concerns."""
    by_segment: dict[int, list[tuple[str, Location]]] = {}
    cells_by_text: dict[str, tuple[Location, set[int]]] = {}
    for position, cell in enumerate(subject.cells):
        for segment in cell.segments:
            if id(segment) not in by_segment:
                parts = [part for step in segment.steps for part in step.renamed]
                by_segment[id(segment)] = [pair for part in parts for pair in part.items()]
            for text, where in by_segment[id(segment)]:
                cells_by_text.setdefault(text, (where, set()))[1].add(position)
    hint = "the build gets what its release has; `allow: {option-renamed: …}` silences this"
    yield from (LintFinding(where, text, hint, cells) for text, (where, cells) in cells_by_text.items())


RULES = (
    Rule("clients-over-cores", "more clients than the machine runs threads",
         each_step(_CORE_NAMES, _more_than_cores, ("hardware.cores",))),
    Rule("step-short", "a measured step too short for a steady state",
         each_step(("step", "measured"), _short, ("step.duration",))),
    Rule("rows-few", "so few rows that a measured step ends within milliseconds",
         each_step(("step", "measured"), _few, (COUNTED,))),
    Rule("option-renamed", "an option under the name that other releases have", _renamed),
    Rule("base-without-cell", "a base that no cell is at", _no_base),
    Rule("mixed-quality", "builds that get no verdict against each other", _mixed_quality),
    Rule("mixed-durability", "arms whose writes survive unlike failures", _mixed_durability),
    Rule("shared-programs", "a version that consists of the programs of others", _shared_programs),
    Rule("no-repeats", "a comparison without repeated loads", _no_repeats),
    Rule("ref-open", "a ref that may be a branch, without a lock file", _open_refs),
    Rule("checkpoint-missing", "a checkpoint that would save hours", _missing_checkpoint),
    Rule("relinks-without-link", "relinks of a program that is linked already", _without_link, "error"),
    Rule("links-repeated", "more loads than links of a program", _repeated_links),
    Rule("loads-repeated", "loads that differ only in options which change no database", _repeated_loads),
)  # fmt: skip


# All rules over one spec: findings become problems, one for the same finding in many cells, and `allow` is obeyed.

SETTINGS = ("mixed-quality",)  # `allow` of these does more than silence: builds are compared as shipped


def check(document: Document, expansion: Expansion, problems: Problems) -> None:
    """Add the findings of all rules, except those that the spec's `allow` silences."""
    segments = {id(segment): segment for cell in expansion.cells for segment in cell.segments}
    kinds = {step.head.kind for segment in segments.values() for step in segment.steps}
    collectors = {str(item.collector) for item in document.spec.collectors} & {*COLLECTORS.names()}
    rules = applicable_rules({build.engine for build in expansion.builds}, kinds, collectors)
    subject = LintSubject(document, expansion, frozenset().union(*(rule.options for rule in rules)))
    allow = document.spec.allow
    silenced: set[str] = set()
    for rule in rules:
        by_place = group((finding.where, finding) for finding in rule.check(subject))
        if rule.code in allow:
            silenced |= {rule.code} if by_place else set()
            continue
        for first, *further in by_place.values():
            cells = {cell for finding in (first, *further) for cell in finding.cells or ()}
            message = first.message + _count(cells, subject)
            problems.append(Problem(rule.code, first.where, message, first.hint, rule.severity, first.width))
    codes = check_codes(document, problems, rules)
    if document.scale is None:  # another scale may need it
        for code in filter((codes - {*silenced, *SETTINGS}).__contains__, allow):
            hint, where = "nothing here to silence: take it out", _code_location(document, code)
            problems.warn("allow-unused", where, f"`allow` names `{code}`, which finds nothing", hint, len(code))


def check_codes(document: Document, problems: Problems, rules: Sequence[Rule] = RULES) -> set[str]:
    """Report codes in `allow` that no lint has. All plug-ins are imported only for one that `rules` do not have."""
    allow = document.spec.allow
    codes = {rule.code for rule in rules}
    if not codes.issuperset(allow):
        codes = {rule.code for rule in all_rules()}
    for code in allow:
        if code not in codes:
            where = _code_location(document, code)
            problems.warn("allow-unknown", where, f"there is no lint `{code}`", nearest(code, codes), len(code))
    return codes


def applicable_rules(engine_names: Iterable[str], kinds: Iterable[str], collectors: Iterable[str] = ()) -> list[Rule]:
    """List the rules of any spec and those of its engines, kinds and collectors, each once."""
    owners = (*map(engine, engine_names), *map(driver, kinds), *map(COLLECTORS.get, collectors))
    own_rules = [rule for owner in owners if isinstance(owner, RuleProvider) for rule in owner.rules()]
    return list(dict.fromkeys((*own_rules, *RULES)))


def all_rules() -> list[Rule]:
    """List one rule of each code."""
    rules = applicable_rules(ENGINES.names(), DRIVERS.names(), COLLECTORS.names())
    return list({rule.code: rule for rule in rules}.values())


def _count(cells: set[int], subject: LintSubject) -> str:
    total = len(subject.cells)
    if not cells or total == 1:
        return ""
    if len(cells) == total:
        return f" (in all {total:,} cells)"
    labels = ", ".join(subject.labels(min(cells)).values())
    return f" (in {len(cells):,} of {total:,} cells: {labels}{', …' if len(cells) > 1 else ''})"


def _code_location(document: Document, code: str) -> Location:
    nodes = document.nodes.get("allow")
    return nodes.at.get(code, document.nodes.where) if isinstance(nodes, Map) else document.nodes.where
