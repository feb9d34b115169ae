"""Rules about steps of db_bench together: what one finds of another, how large the data is, which builds compare."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from stepgrid.expand.builds import Build
from stepgrid.expand.cells import Cell
from stepgrid.expand.evaluation import ResolvedStep
from stepgrid.lint.rule import Facts, LintFinding, Rule, combinations
from stepgrid.lint.spec_rules import compares_builds
from stepgrid.lint.subject import LintSubject
from stepgrid.model.plan import listed_texts
from stepgrid.model.units import size
from stepgrid_databases.drivers.db_bench.benchmarks import DRAINING, LOADS, READ_ONLY, Release, resolved_benchmark
from stepgrid_databases.drivers.db_bench.keyspace import LOOKUPS, OPTIONS, Keyspace, keys_after, keys_before
from stepgrid_databases.drivers.db_bench.step_lints import FOLLOWS_LIBRARY, HYPER_CLOCK_DEFAULT, declared_release

DB_BENCH, QUIESCE = "db_bench", "quiesce"


def _steps(cell: Cell) -> Iterator[ResolvedStep]:
    return (step for segment in cell.segments for step in segment.steps)


def _undrained_loads(subject: LintSubject) -> Iterator[LintFinding]:
    """Find measured steps that run into the compaction debt of the load before them."""
    if not LOADS & subject.table.values("benchmark"):
        return
    cells: dict[str, list[int]] = defaultdict(list)
    effects: dict[int, tuple[bool, bool]] = {}  # by settings
    for position, cell in enumerate(subject.cells):
        if name := _first_in_debt(cell, effects):
            cells[name].append(position)
    for name, positions in cells.items():
        message = f"step `{name}` begins while the load's compaction may still run: no step waits for it"
        hint = "a step with flush and waitforcompaction, or of kind quiesce, after the load"
        yield LintFinding(subject.places.of_step(name, None), message, hint, positions)


def _first_in_debt(cell: Cell, effects: dict[int, tuple[bool, bool]]) -> str | None:
    """Find the first measured step after a load, unless a step between them drains."""
    loaded = False
    for step in _steps(cell):
        key = id(step.settings)
        if key not in effects:
            values = step.settings.values
            drains = not DRAINING.isdisjoint(listed_texts(values.get("benchmarks")))
            effects[key] = resolved_benchmark(values) in LOADS, drains or step.head.kind == QUIESCE
        loads, drains = effects[key]
        if loads:
            loaded = not drains
        elif loaded and (drains or step.head.measured):
            return None if drains else step.head.name
    return None


def _empty_databases(subject: LintSubject) -> Iterator[LintFinding]:
    """Find first steps that need a database."""
    cells: dict[str, set[int]] = defaultdict(set)
    for position, cell in enumerate(subject.cells):
        first = next((step for step in _steps(cell) if step.head.kind != QUIESCE), None)
        if first is not None and first.head.kind == DB_BENCH and not first.settings.values.get("fresh"):
            cells[first.head.name].add(position)
    for name, positions in cells.items():
        message = f"step `{name}` needs a loaded database: it is the first step, and does not set `fresh: true`"
        hint = f"put a load step first, or `{{use: {name}, fresh: true}}`"
        yield LintFinding(subject.places.of_step(name, None), message, hint, positions)


def _unused_checkpoints(subject: LintSubject) -> Iterator[LintFinding]:
    """Find steps that throw away the database of the checkpoint before them."""
    cells: dict[str, set[int]] = defaultdict(set)
    for position, cell in enumerate(subject.cells):
        for segment in cell.segments[1:]:
            first = next((step for step in segment.steps if step.head.kind != QUIESCE), None)
            if first is not None and first.head.kind == DB_BENCH and first.settings.values.get("fresh"):
                cells[first.head.name].add(position)
    for name, positions in cells.items():
        message = f"step `{name}` begins with an empty database, so the checkpoint before it shares nothing"
        hint = f"put the checkpoint after `{name}`, or remove it"
        yield LintFinding(subject.places.of_step(name, None), message, hint, positions)


class _Step(NamedTuple):
    """A resolved step as `keyspace` reads it."""

    kind: str
    settings: Any
    options: Any


_MissingKeys: TypeAlias = tuple[str, float, float]  # of a step: name, keys that it looks up, keys loaded


def _missing_keys(subject: LintSubject) -> Iterator[LintFinding]:
    """Find steps that look up keys which no step before them loaded."""
    if not LOOKUPS & subject.table.values("benchmark"):
        return
    cells: dict[_MissingKeys, set[int]] = defaultdict(set)
    outcomes: dict[tuple[object, ...], tuple[Keyspace | None, _MissingKeys | None]] = {}
    for position, cell in enumerate(subject.cells):
        space: Keyspace | None = None
        for step in _steps(cell):
            options = [part for part in step.options.parts if not OPTIONS.isdisjoint(part)]
            key = (space, id(step.settings), id(step.head), *map(id, options))  # most steps are as another one
            if key not in outcomes:
                outcomes[key] = _lookup_outcome(space, step)
            space, missing = outcomes[key]
            if missing:
                cells[missing].add(position)
    for (name, keys, loaded), positions in cells.items():
        source = f"of which the steps before it loaded {loaded:,.0f}" if loaded else "and the database holds none"
        message = f"step `{name}` looks up {keys:,.0f} keys, {source}: lookups of missing keys are another benchmark"
        hint = f"`{{use: {name}, keys: {loaded:.0f}}}`, or load as many" if loaded else "put a load step first"
        yield LintFinding(subject.places.of_step(name, "keys"), message, hint, positions)


def _lookup_outcome(space: Keyspace | None, resolved: ResolvedStep) -> tuple[Keyspace | None, _MissingKeys | None]:
    """Work out what a step leaves, and whether it looks up more keys than it finds."""
    values = resolved.settings.values
    step = _Step(resolved.head.kind, values, resolved.options)
    space, keys, missing = keys_before(space, step), values.get("keys"), None
    if step.kind == DB_BENCH and isinstance(keys, int) and resolved_benchmark(values) in LOOKUPS:
        missing = (resolved.head.name, keys, space.end) if space is not None and keys > space.end else None
    return keys_after(space, step), missing


# Data that is called cached, or IO-bound, against what it is measured with

_CACHED = re.compile(r"byrx|((fully|rx)[-_])?cached|in[-_]?memory", re.IGNORECASE)
_CACHED_BY_SYSTEM = re.compile(r"byos|os[-_]cached", re.IGNORECASE)
_IO_BOUND = re.compile(r"(io[-_]?(bound|buf|dir)|disk[-_]?bound)\w*", re.IGNORECASE)
_SIZE_FACTS = ("step.keys", "key_size", "value_size", "cache_size", "compression_type", "compression_ratio",
               "use_direct_reads", "hardware.memory", "benchmark", "measured")  # fmt: skip

Contradiction: TypeAlias = Callable[[Facts], str | None]


def _larger_than_cache(facts: Facts) -> str | None:
    cache, data = facts.amount("cache_size", 0), _data_size(facts)
    if not 0 < cache < data:
        return None
    return f"{size(data)} of data, a block cache of {size(cache)}: it does not fit"


def _larger_than_memory(facts: Facts) -> str | None:
    memory, files = facts.amount("hardware.memory", 0), _file_size(facts)
    if not 0 < memory < files:
        return None
    return f"{size(files)} of files, {size(memory)} of memory: they do not fit"


def _fits_in_memory(facts: Facts) -> str | None:
    cache, memory = facts.amount("cache_size", 0), facts.amount("hardware.memory", 0)
    data, files = _data_size(facts), _file_size(facts)
    if 0 < data <= cache:
        return f"{size(data)} of data fit in the block cache of {size(cache)}"
    if not facts.is_on("use_direct_reads") and 0 < files <= memory:
        return f"{size(files)} of files fit in the {size(memory)} of memory"
    return None


def _data_size(facts: Facts, ratio: float = 1.0) -> float:
    """Compute bytes as the block cache holds them: uncompressed."""
    record = facts.amount("key_size", 16) + ratio * facts.amount("value_size", 100)
    return facts.amount("step.keys", 0) * record


def _file_size(facts: Facts) -> float:
    return _data_size(facts, 1.0 if facts["compression_type"] == "none" else facts.amount("compression_ratio", 0.5))


def _check_labels(
    claim: str, contradictions: Mapping[re.Pattern[str], Contradiction], hint: str
) -> Callable[[LintSubject], Iterator[LintFinding]]:
    """Make a check of points of axes whose labels claim something of the size of the data."""

    def check(subject: LintSubject) -> Iterator[LintFinding]:
        for number, axis in enumerate(subject.expansion.axes):
            for point in axis.points:
                contradict = next((rule for name, rule in contradictions.items() if name.fullmatch(point.label)), None)
                if contradict is None:
                    continue
                cells = {n for n, cell in enumerate(subject.cells) if cell.choice.points[number] is point}
                for positions, facts in _measured_facts(subject, cells):
                    if contradiction := contradict(facts):
                        message = f"`{point.label}` is called {claim}, but {contradiction}"
                        yield LintFinding(point.where, message, hint, positions & cells, len(point.label))

    return check


def _measured_facts(subject: LintSubject, cells: set[int]) -> Iterator[tuple[set[int], Facts]]:
    """List facts of the measured steps of some cells, each combination once, with the cells that have it."""
    table = subject.table
    chosen = {(id(segment), id(subject.cells[n].hardware)) for n in cells for segment in subject.cells[n].segments}
    rows = [row for row in enumerate(table.rows) if row[1].step.head.kind == DB_BENCH]
    positions = [n for n, row in rows if not chosen.isdisjoint(row.segments)]
    columns = [[table.column(name)[n] for n in positions] for name in _SIZE_FACTS]
    members: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for n, values in zip(positions, zip(*columns, strict=True), strict=True):
        members[values].append(n)
    for values in combinations(columns):
        facts = Facts(dict(zip(_SIZE_FACTS, values, strict=True)))
        if facts["measured"] and facts["benchmark"] not in LOADS:
            yield set().union(*(table.cells(table.rows[n]) for n in members[values])), facts


# Defaults that changed between releases of RocksDB, as db_bench applies them (its source at the release tags)


class DefaultChange(NamedTuple):
    option: str
    since: Release
    before: str
    after: str


# db_bench's own. Where it follows the library, the change of a default is what a release is measured for.
DEFAULT_CHANGES = (
    DefaultChange("max_bytes_for_level_base", (5, 3), "10 MiB", "256 MiB"),
    DefaultChange("target_file_size_base", (5, 3), "2 MiB", "64 MiB"),
    DefaultChange("allow_concurrent_memtable_write", (5, 7), "false", "true"),
    DefaultChange("verify_checksum", (5, 7), "false", "true"),
    DefaultChange("cache_numshardbits", (7, 7), "6", "-1"),
    DefaultChange("cache_size", (8, 2), "8 MiB", "32 MiB"),
    DefaultChange("compaction_readahead_size", FOLLOWS_LIBRARY, "0", "2 MiB"),
    DefaultChange("cache_type", HYPER_CLOCK_DEFAULT, "lru_cache", "hyper_clock_cache"),
)


def _different_defaults(subject: LintSubject) -> Iterator[LintFinding]:
    """Find releases on both sides of a change of a default that the spec leaves to them."""
    for change in DEFAULT_CHANGES if compares_builds(subject) else ():
        builds = _builds_without(subject, change.option)
        older = [build for number, build in builds if number < change.since]
        newer = [build for number, build in builds if number >= change.since]
        if older and newer:
            message = (
                f"`{change.option}` is left to the builds: {change.before} in {older[0].name}, "
                f"{change.after} in {newer[0].name}"
            )
            hint = f"say `{change.option}`, unless the change of its default is what is measured"
            yield LintFinding(newer[0].where, message, hint, width=len(newer[0].family))


def _builds_without(subject: LintSubject, option: str) -> Sequence[tuple[Release, Build]]:
    """List the builds, with their releases, some of whose steps write and do not have the option."""
    values, benchmarks = subject.table.column(option), subject.table.column("benchmark")
    builds: dict[str, Build] = {}
    for row, value, benchmark in zip(subject.table.rows, values, benchmarks, strict=True):
        if value is None and benchmark not in (None, *READ_ONLY):
            builds[row.build.name] = row.build
    return [(number, build) for build in builds.values() if (number := declared_release(build)) is not None]


RULES = (
    Rule("load-not-drained", "measuring begins in the compaction debt of the load", _undrained_loads),
    Rule("empty-database", "a first step that needs a loaded database", _empty_databases),
    Rule("checkpoint-unused", "a checkpoint before the load", _unused_checkpoints),
    Rule("keys-not-loaded", "a step that looks up keys that were not loaded", _missing_keys),
    Rule("cached-does-not-fit", "data called cached that is larger than the cache",
         _check_labels("cached", {_CACHED: _larger_than_cache, _CACHED_BY_SYSTEM: _larger_than_memory},
                       "fewer keys, a larger cache, or another name"), reads=_SIZE_FACTS),
    Rule("io-bound-fits", "data called IO-bound that fits in memory",
         _check_labels("IO-bound", {_IO_BOUND: _fits_in_memory}, "more keys, a smaller cache, or another name"),
         reads=_SIZE_FACTS),
    Rule("defaults-differ", "releases with different defaults of an option that the spec leaves to them",
         _different_defaults, reads=tuple(change.option for change in DEFAULT_CHANGES)),
)  # fmt: skip
