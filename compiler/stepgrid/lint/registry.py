"""All rules, in the order of their families."""

from __future__ import annotations

from stepgrid.lint import (
    benchmarks,
    cache,
    checkpoints,
    clients,
    comparison,
    data_size,
    deletes,
    durations,
    io,
    levels,
    loads,
    lookups,
    memtable,
    mixgraph,
    readahead,
    refs,
    repeats,
    shape_of_tree,
)
from stepgrid.lint.each_step import EachStep
from stepgrid.lint.rule import Rule

_FAMILIES = (
    benchmarks,
    mixgraph,
    levels,
    readahead,
    cache,
    memtable,
    io,
    deletes,
    shape_of_tree,
    loads,
    lookups,
    data_size,
    clients,
    durations,
    comparison,
    refs,
    repeats,
    checkpoints,
)
RULES: tuple[Rule, ...] = tuple(rule for family in _FAMILIES for rule in family.RULES)


def _reads(rule: Rule) -> tuple[str, ...]:
    check = rule.check
    return (*rule.reads, *((*check.reads, *check.needs) if isinstance(check, EachStep) else ()))


READ: frozenset[str] = frozenset(name.removesuffix(".unsupported") for rule in RULES for name in _reads(rule))
