"""What steps look up in a database that may lack it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from stepgrid.drivers.db_bench import keyspace
from stepgrid.drivers.db_bench.benchmarks import first_measured
from stepgrid.drivers.db_bench.keyspace import LOOKUPS, OPTIONS, Keyspace
from stepgrid.expand.cells import Cell
from stepgrid.expand.steps.resolved_step import ResolvedStep
from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.subject import Subject

DB_BENCH, QUIESCE = "db_bench", "quiesce"
_Lookup: TypeAlias = tuple[str, float, float]  # of a step: name, keys that it looks up, keys loaded


class _Step(NamedTuple):
    """A resolved step as `keyspace` looks at it."""

    kind: str
    settings: Any
    options: Any


def _beyond(subject: Subject) -> Iterator[Finding]:
    """Steps that look up keys which no step before them loaded."""
    if not LOOKUPS & subject.table.values("benchmark"):
        return
    cells: dict[tuple[str, float, float], set[int]] = {}
    known: dict[tuple[object, ...], tuple[Keyspace | None, _Lookup | None]] = {}
    for position, cell in enumerate(subject.cells):
        space: Keyspace | None = None
        for each in (step for segment in cell.segments for step in segment.steps):
            options = [part for part in each.options.parts if not OPTIONS.isdisjoint(part)]
            key = (space, id(each.settings), id(each.head), *map(id, options))  # most steps are as another one
            if key not in known:
                known[key] = _looked(space, each)
            space, found = known[key]
            if found:
                cells.setdefault(found, set()).add(position)
    for (step, keys, loaded), positions in cells.items():
        yield _finding(subject, step, keys, loaded, positions)


def _finding(subject: Subject, step: str, keys: float, loaded: float, cells: set[int]) -> Finding:
    of = f"of which the steps before it loaded {loaded:,.0f}" if loaded else "and the database holds none"
    message = f"step `{step}` looks up {keys:,.0f} keys, {of}: lookups of missing keys are another benchmark"
    hint = f"`{{use: {step}, keys: {loaded:.0f}}}`, or load as many" if loaded else "put a load step first"
    return Finding(subject.places.of_step(step, "keys"), message, hint, cells)


def _looked(space: Keyspace | None, resolved: ResolvedStep) -> tuple[Keyspace | None, _Lookup | None]:
    """What a step leaves, and what it looks up beyond what it finds."""
    step = _Step(resolved.head.kind, resolved.settings.values, resolved.options)
    space, keys = keyspace.before(space, step), _lookups(resolved)
    found = (resolved.head.name, keys, space.end) if space is not None and keys > space.end else None
    return keyspace.after(space, step), found


def _lookups(step: ResolvedStep) -> float:
    """The keys that it looks up; 0 where it looks up none."""
    values = step.settings.values
    names, keys = values.get("benchmarks"), values.get("keys")
    if step.head.kind != DB_BENCH or not isinstance(names, list) or not isinstance(keys, int):
        return 0
    return keys if first_measured(list(map(str, names))) in LOOKUPS else 0


def _empty(subject: Subject) -> Iterator[Finding]:
    """First steps that need a database."""
    cells: dict[str, set[int]] = {}
    for position, cell in enumerate(subject.cells):
        if (name := _first(cell)) is not None:
            cells.setdefault(name, set()).add(position)
    for name, positions in cells.items():
        message = f"step `{name}` needs a loaded database: it is the first step, and does not set `fresh: true`"
        hint = f"put a load step first, or `{{use: {name}, fresh: true}}`"
        yield Finding(subject.places.of_step(name, None), message, hint, positions)


def _first(cell: Cell) -> str | None:
    """The first step, where it is one of db_bench that begins with the database that is there."""
    steps = (step for segment in cell.segments for step in segment.steps if step.head.kind != QUIESCE)
    first = next(steps, None)
    if first is None or first.head.kind != DB_BENCH or first.settings.values.get("fresh"):
        return None
    return first.head.name


RULES = (
    Rule("empty-database", "a first step that needs a loaded database", _empty),
    Rule("keys-not-loaded", "a step that looks up keys that were not loaded", _beyond),
)  # fmt: skip
