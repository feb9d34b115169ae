"""All rules, in the order of their families."""

from __future__ import annotations

from stepgrid.drivers.db_bench.lints import (
    benchmarks,
    block_cache,
    direct_io,
    levels,
    lookups,
    memtable,
    mixgraph,
    readahead,
    tree_shape,
)
from stepgrid.engines.mysqld import lints
from stepgrid.lint import checkpoints, clients, comparison, data_size, durations, loads, refs, repeats
from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import EachStep

_FAMILIES = (
    benchmarks,
    mixgraph,
    levels,
    readahead,
    block_cache,
    memtable,
    direct_io,
    lints,
    tree_shape,
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
