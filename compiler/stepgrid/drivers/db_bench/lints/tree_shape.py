"""The state of the tree that a step finds."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.drivers.db_bench.benchmarks import DRAINING, LOADS, READ_ONLY
from stepgrid.drivers.db_bench.lints.step_facts import benchmark_of
from stepgrid.expand.cells import Cell
from stepgrid.expand.steps.resolved_step import ResolvedStep
from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts
from stepgrid.lint.subject import Subject

QUIESCE = "quiesce"


def _read_only(facts: Facts) -> Verdict | None:
    if not facts["measured"] or facts["benchmark"] not in READ_ONLY:
        return None
    message = f"step `{facts['step']}` only reads: the shape that the tree happens to have decides the result"
    return Verdict("step", message, "measure reads while writing, such as readwhilewriting, which has no one shape")


def _undrained(subject: Subject) -> Iterator[Finding]:
    """Measured steps that run into the compaction debt of the load before them."""
    if not LOADS & subject.table.values("benchmark"):
        return
    cells: dict[str, list[int]] = {}
    known: dict[int, tuple[bool, bool]] = {}
    for position, cell in enumerate(subject.cells):
        name = _first(cell, known)
        if name is not None:
            cells.setdefault(name, []).append(position)
    for name, positions in cells.items():
        message = f"step `{name}` begins while the load's compaction may still run: no step waits for it"
        hint = "a step with flush and waitforcompaction, or of kind quiesce, after the load"
        yield Finding(subject.places.of_step(name, None), message, hint, positions)


def _first(cell: Cell, known: dict[int, tuple[bool, bool]]) -> str | None:
    """The first measured step after a load with nothing that drains in between. `known`: settings -> loads, drains."""
    loaded = False
    for segment in cell.segments:
        for step in segment.steps:
            key = id(step.settings)
            if key not in known:
                known[key] = benchmark_of(step.settings.values) in LOADS, _drains(step)
            loads, drains = known[key]
            if loads:
                loaded = not drains
            elif loaded and (drains or step.head.measured):
                return None if drains else step.head.name
    return None


def _drains(step: ResolvedStep) -> bool:
    named = step.settings.values.get("benchmarks")
    drains = isinstance(named, list) and bool(DRAINING.intersection(map(str, named)))
    return drains or step.head.kind == QUIESCE


RULES = (
    Rule("read-only-step", "a measured step that only reads from an LSM",
         each_step(("step", "measured"), _read_only, ("benchmark",))),
    Rule("load-not-drained", "measuring begins in the compaction debt of the load", _undrained),
)  # fmt: skip
