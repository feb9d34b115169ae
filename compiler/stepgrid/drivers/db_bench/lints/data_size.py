"""Data that is called cached, or IO-bound, against what it is measured with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stepgrid.drivers.db_bench.benchmarks import LOADS
from stepgrid.expand.axes.axis import Axis
from stepgrid.expand.axes.points import Point
from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.step_table import combinations
from stepgrid.lint.step_values import Facts
from stepgrid.lint.subject import Subject
from stepgrid.model.number_format import size

_CACHED = re.compile(r"byrx|((fully|rx)[-_])?cached|in[-_]?memory", re.IGNORECASE)
_BY_SYSTEM = re.compile(r"byos|os[-_]cached", re.IGNORECASE)
_IO_BOUND = re.compile(r"(io[-_]?(bound|buf|dir)|disk[-_]?bound)\w*", re.IGNORECASE)
_READS = ("step.keys", "key_size", "value_size", "cache_size", "compression_type", "compression_ratio",
          "use_direct_reads", "hardware.memory", "benchmark", "measured")  # fmt: skip

Judge = Callable[[Facts], str | None]


def _does_not_fit(facts: Facts) -> str | None:
    cache = facts.amount("cache_size", 0)
    if not 0 < cache < _data(facts):
        return None
    return f"{size(_data(facts))} of data, a block cache of {size(cache)}: it does not fit"


def _does_not_fit_memory(facts: Facts) -> str | None:
    memory = facts.amount("hardware.memory", 0)
    if not 0 < memory < _stored(facts):
        return None
    return f"{size(_stored(facts))} of files, {size(memory)} of memory: they do not fit"


def _fits(facts: Facts) -> str | None:
    cache, memory = facts.amount("cache_size", 0), facts.amount("hardware.memory", 0)
    if 0 < _data(facts) <= cache:
        return f"{size(_data(facts))} of data fit in the block cache of {size(cache)}"
    if not facts.is_on("use_direct_reads") and 0 < _stored(facts) <= memory:
        return f"{size(_stored(facts))} of files fit in the {size(memory)} of memory"
    return None


def _data(facts: Facts) -> float:
    """As the block cache holds it: uncompressed."""
    return facts.amount("step.keys", 0) * (facts.amount("key_size", 16) + facts.amount("value_size", 100))


def _stored(facts: Facts) -> float:
    ratio = 1.0 if facts["compression_type"] == "none" else facts.amount("compression_ratio", 0.5)
    return facts.amount("step.keys", 0) * (facts.amount("key_size", 16) + ratio * facts.amount("value_size", 100))


def _named(called: str, judges: Mapping[re.Pattern[str], Judge], hint: str) -> Callable[[Subject], Iterator[Finding]]:
    def check(subject: Subject) -> Iterator[Finding]:
        for number, axis in enumerate(subject.expansion.axes):
            for point in axis.points:
                judge = next((judge for name, judge in judges.items() if name.fullmatch(point.label)), None)
                if judge is not None:
                    yield from _judged(subject, number, axis, point, judge)

    def _judged(subject: Subject, number: int, axis: Axis, point: Point, judge: Judge) -> Iterator[Finding]:
        cells = {n for n, cell in enumerate(subject.cells) if cell.choice.points[number] is point}
        for rows, facts in _measured(subject, cells):
            found = judge(facts)
            if found is not None:
                message = f"`{point.label}` is called {called}, but {found}"
                yield Finding(point.where, message, hint, rows & cells, len(point.label))

    return check


def _measured(subject: Subject, cells: set[int]) -> Iterator[tuple[set[int], Facts]]:
    """What the measured steps of some cells have, each combination once, with the cells that have it."""
    table = subject.table
    chosen = {(id(segment), id(subject.cells[n].hardware)) for n in cells for segment in subject.cells[n].segments}
    steps = ((n, row) for n, row in enumerate(table.rows) if row.step.head.kind == "db_bench")
    there = [n for n, row in steps if not chosen.isdisjoint(row.places)]
    columns = [[table.column(name)[n] for n in there] for name in _READS]
    members: dict[tuple[Any, ...], list[int]] = {}
    for n, values in zip(there, zip(*columns, strict=True), strict=True):
        members.setdefault(values, []).append(n)
    for values in combinations(columns):
        facts = Facts(dict(zip(_READS, values, strict=True)))
        if facts["measured"] and facts["benchmark"] not in LOADS:
            yield set().union(*(table.cells(table.rows[n]) for n in members[values])), facts


RULES = (
    Rule("cached-does-not-fit", "data called cached that is larger than the cache",
         _named("cached", {_CACHED: _does_not_fit, _BY_SYSTEM: _does_not_fit_memory},
                "fewer keys, a larger cache, or another name"), reads=_READS),
    Rule("io-bound-fits", "data called IO-bound that fits in memory",
         _named("IO-bound", {_IO_BOUND: _fits}, "more keys, a smaller cache, or another name"), reads=_READS),
)  # fmt: skip
