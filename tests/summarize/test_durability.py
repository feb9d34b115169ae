"""Arms whose writes survive unlike failures: no verdict in the report, unless the spec names it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stepgrid.collect.job import collect
from stepgrid.model.plan import Option
from stepgrid.model.records import StepSetup, replace
from stepgrid.summarize import summary_text
from stepgrid_inspect.compare import compare_sets, stored_results
from tests.summarize.scenario import LEVELS
from tests.summarize.synthetic import Experiment

MYSQL57, MYSQL80 = "mysql---5.7.22", "mysql---8.0.31"  # the experiment takes 8 letters off
ADVICE = "Arms that write with unequal durability get no verdict"


def test_the_plan_of_a_spec_that_allows_it_says_so(compile_text):
    spec = """
title: t
builds:
  a: {engine: mysql, version: 5.7.22, source: {system: mysqld}}
  b: {engine: mysql, version: 8.0.31, source: {system: mysqld}}
steps: [{name: w, kind: sql, sql: [insert into t values (1)], mutates: true}]
sweep: {build: [a, b]}
"""
    assert compile_text(spec).report.mixed_durability is None
    allowed = compile_text(spec + "allow: {mixed-durability: the question}\n")
    assert allowed.report.mixed_durability == "the question"


def test_two_sets_of_results_are_held_to_the_same(tmp_path):
    """Of one spec before and after a change of options; each set is a store of its own."""
    synced, lazy = {"skip_log_bin": "ON"}, {"skip_log_bin": "ON", "innodb_flush_log_at_trx_commit": "2"}
    report, summary = _compared(tmp_path, synced, lazy)
    entries = [case.entry for comparison in report.comparisons.leading for case in comparison.cases()]
    refusal = "unequal durability: commit sync / os"
    assert {(entry.refusal, entry.verdict) for entry in entries} == {(refusal, None)}
    assert f"no verdict against results=then, in all 3 steps {refusal}" in summary
    assert ADVICE in summary
    assert report.notes.reproduction[0] == "reproduced within 2 % at 0 of 3 points"


def test_an_old_set_that_does_not_tell_its_durability(tmp_path):
    report, summary = _compared(tmp_path, None, {"skip_log_bin": "ON"})
    doubts = {doubt for table in report.comparisons.leading for case in table.cases() for doubt in case.entry.doubts}
    unknown = "durability unknown / commit sync, binary log none, torn pages protected"
    assert unknown in doubts
    assert f"† {unknown}" in summary
    assert "reproduced within 2 % at 3 of 3 points" in summary


def _compared(root, old, new):
    """Compare a set with options `old`, or whose plan is not read any more, with another one."""
    names = {"then": old or {}, "now": new}
    first, second = (
        stored_results((found := _experiment(root / name, (MYSQL80,), options=options)).store,
                       found.plan.digest, name)
        for name, options in names.items()
    )  # fmt: skip
    compared = compare_sets(first if old is not None else replace(first, links=lambda _: []), second, ())
    return compared, " ".join(summary_text.text(compared, None).split())


@dataclass
class _Servers(Experiment):
    options: Mapping[str, str] = field(default_factory=dict)

    def _plan(self):
        plan = super()._plan()
        stages = (replace(stage, steps=tuple(map(self._server_step, stage.steps))) for stage in plan.stages)
        builds = (replace(build, engine="mysql") for build in plan.builds)
        return replace(plan, stages=tuple(stages), builds=tuple(builds))

    def _server_step(self, step):
        options = {name: Option(value) for name, value in self.options.items()}
        return replace(step, mutates=True, options=options, setup=StepSetup(storage_engine="innodb"))


def _experiment(root, builds=(MYSQL57, MYSQL80), **fields):
    found = _Servers(root, builds=builds, caches=("lru",), threads=("1",), base={"build": builds[0]}, **fields)
    for build, rate in zip(builds, (10_000, 1_000), strict=False):
        found.add_build(build, quality={"route": "debian", "suite": "bookworm"})
        for load, level in enumerate(LEVELS):
            rates = {"readww": rate * level, "overwrite": rate * level}
            found.add_load(build, load)
            found.add(build, "lru", "1", load, rates)
    collect(found.store, found.plan)
    return found
