"""Benchmarks: those that a release lacks, writers without a rate, scans that only seek."""

from __future__ import annotations

from collections.abc import Iterable

from stepgrid.drivers.db_bench.benchmark_releases import SINCE
from stepgrid.drivers.db_bench.benchmarks import has_background_writer
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


def _writer(facts: Facts) -> Verdict | None:
    if not facts["measured"] or not has_background_writer(facts["benchmark"]) or facts.given("step.write_rate"):
        return None
    message = (
        f"step `{facts['step']}` has a background writer without a rate: how fast it happens to be decides the reads"
    )
    return Verdict("step", message, "`write_rate: 2MiB`, as in the published setups")


def _seeks(facts: Facts) -> Verdict | None:
    named = any(word in str(facts["step"]).lower() for word in ("range", "scan"))
    if not named or not str(facts["benchmark"]).startswith("seekrandom") or facts.amount("seek_nexts", 0) > 0:
        return None
    message = f"step `{facts['step']}` seeks and reads nothing after it: seek_nexts is 0"
    return Verdict("step", message, "`options: {seek_nexts: 10}`")


RULES = (
    Rule("benchmark-lacking", "a benchmark that the release does not have",
         each_step(("kind", "step"), _lacking, ("step.benchmarks", "release")), "error"),
    Rule("writer-unlimited", "a background writer without a rate",
         each_step(("step", "measured", "step.write_rate"), _writer, ("benchmark",))),
    Rule("range-without-nexts", "a range step that only seeks",
         each_step(("step", "seek_nexts"), _seeks, ("benchmark",))),
)  # fmt: skip
