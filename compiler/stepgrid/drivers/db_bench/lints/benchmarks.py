"""Benchmarks that a release of db_bench does not have yet."""

from __future__ import annotations

from collections.abc import Iterable

from stepgrid.drivers.db_bench.benchmark_releases import SINCE
from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts, release


def _lacking(facts: Facts) -> Verdict | None:
    if facts["kind"] != "db_bench":
        return None
    has, named = facts["release"], facts["step.benchmarks"]
    missing = [str(name) for name in _each(named) if SINCE.get(str(name), ()) > has]
    if not missing:
        return None
    name, first = missing[0], release(SINCE[missing[0]])
    message = f"step `{facts['step']}` asks for {name}: RocksDB {release(has)} has none, it came with {first}"
    return Verdict("step.benchmarks", message, f"`{{when: \"version >= '{first}'\", value: {name}}}`")


def _each(named: object) -> Iterable[object]:
    return named if isinstance(named, tuple) else ()


RULES = (
    Rule("benchmark-lacking", "a benchmark that the release does not have",
         each_step(("kind", "step"), _lacking, ("step.benchmarks", "release")), "error"),
)  # fmt: skip
