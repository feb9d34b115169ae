"""What becomes of each node, from what is known of the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.model.plan import Plan
from stepgrid.plan.actions import Known, Outcome, outcomes

Compile = Callable[..., Plan]

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: [6.11.4, 7.8.3], source: {debian: rocksdb-tools, suite: sid}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 1m}
params: {keys: 200k}
sweep: {cache: {option: cache_type, values: [lru_cache, hyper_clock_cache], from: loaded}}
"""


class Case:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.old, self.new = (next(b.id for b in plan.builds if b.version == v) for v in ("6.11.4", "7.8.3"))
        self.load = next(s.id for s in plan.stages if s.build == self.new and s.parent is None)
        self.reads = [s.id for s in plan.stages if s.parent == self.load]
        self.old_load = next(s.id for s in plan.stages if s.build == self.old and s.parent is None)
        self.old_reads = [s.id for s in plan.stages if s.parent == self.old_load]

    def found(self, **known: Any) -> dict[str, Outcome]:
        return outcomes(self.plan, Known(**known))


@pytest.fixture
def case(compile_text: Compile) -> Case:
    return Case(compile_text(SPEC))


def test_an_empty_store_has_everything_to_do(case: Case) -> None:
    assert {outcome.state for outcome in case.found().values()} == {"new"}


def test_what_is_there_is_cached_or_another_specs(case: Case) -> None:
    found = case.found(builds=[case.new], results=[case.load], images=[case.load], elsewhere={case.load: "b.yaml"})
    assert found[case.new] == Outcome("cached")
    assert found[case.load] == Outcome("shared", "made by b.yaml")
    assert found[case.old] == Outcome("new")


def test_a_load_without_an_image_is_replayed_only_for_a_child_that_runs(case: Case) -> None:
    some = case.found(results=[case.load, case.reads[0]])
    assert some[case.load] == Outcome("replayed", "there is no image of its end state")
    assert case.found(results=[case.load, *case.reads])[case.load].state == "cached"
    known: dict[str, Any] = {"results": [case.load, case.reads[0]], "images": [case.load]}
    assert case.found(**known)[case.load].state == "cached"
    assert case.found(**known, damaged={case.load: "a is gone"})[case.load] == Outcome("replayed", "a is gone")


def test_what_failed_is_tried_again(case: Case) -> None:
    found = case.found(failures={case.load: "failed: fillseq: out of space", case.old: "failed: no package"})
    assert found[case.load] == Outcome("failed", "failed: fillseq: out of space")
    assert found[case.old] == Outcome("failed", "failed: no package")


def test_unsupported_is_inherited(case: Case) -> None:
    found = case.found(results=[case.load], unsupported={case.load: "no"})
    assert [found[read] for read in case.reads] == [Outcome("unsupported", "no")] * 2


def test_a_catalogue_tells_what_will_be_unsupported(case: Case) -> None:
    has: dict[str, Any] = {"cache_type": {}}
    found = case.found(builds=[case.old, case.new], catalogues={case.old: {}, case.new: has})
    assert [found[read] for read in case.old_reads] == [
        Outcome("unsupported", "the build has no option cache_type")
    ] * 2
    assert [found[read].state for read in case.reads] == ["new", "new"]


def test_an_option_that_no_build_has_is_left_to_the_run(case: Case) -> None:
    found = case.found(builds=[case.old, case.new], catalogues={case.old: {}, case.new: {}})
    assert [found[read].state for read in case.old_reads] == ["new", "new"]


def test_what_is_measured_again_runs_and_needs_its_database(case: Case) -> None:
    everything = [stage.id for stage in case.plan.stages]
    known = {"builds": [case.old, case.new], "results": everything, "again": {case.reads[0]: "asked for"}}
    found = case.found(**known)
    assert found[case.reads[0]] == Outcome("redo", "asked for")
    assert found[case.load] == Outcome("replayed", "there is no image of its end state")
    assert found[case.reads[1]].state == found[case.old_load].state == "cached"
    assert case.found(**known, images=[case.load])[case.load].state == "cached"
    load = case.found(**{**known, "again": {case.load: "a", case.reads[0]: "b"}})
    assert (load[case.load].state, load[case.reads[0]].state) == ("redo", "redo")


def test_a_stage_whose_results_were_all_retracted_is_new_and_says_why(case: Case) -> None:
    found = case.found(retracted={case.load: "its result was retracted by someone: a disturbance"})
    assert found[case.load] == Outcome("new", "its result was retracted by someone: a disturbance")


def test_what_another_machine_measures_is_left_to_it(case: Case) -> None:
    machine = case.plan.stages[0].hardware
    found = case.found(foreign={machine: "cores: 2 and not 64"}, results={case.plan.stages[0].id})
    states = {outcome.state for node, outcome in found.items() if node.startswith("s-")}
    assert states == {"cached", "elsewhere"}
    assert {outcome.said for outcome in found.values() if outcome.state == "elsewhere"} == {
        f"needs {machine}: cores: 2 and not 64"
    }


RUNNING = """\
title: t
builds: {prod: {engine: mysql, version: 8.0.40, source: {server: prod}}}
steps:
  - {name: load, kind: sql, sql: ["drop table if exists t"], mutates: true}
  - checkpoint: loaded
  - {name: ask, kind: sql, sql: ["select 1"]}
sweep: {size: {option: max_connections, values: [1, 2], from: loaded}}
"""


def test_on_a_server_that_runs_already_a_load_is_run_again_for_each_stage_after_it(compile_text: Compile) -> None:
    plan = compile_text(RUNNING)
    (load,) = [stage.id for stage in plan.stages if stage.parent is None]
    first, _ = (stage.id for stage in plan.stages if stage.parent)
    what = "for what starts from it: a running server has no images"
    assert outcomes(plan, Known())[load] == Outcome("new", f"run 2 times more {what}")
    some = outcomes(plan, Known(results=[load, first]))
    assert some[load] == Outcome("replayed", f"run once more {what}")
    assert outcomes(plan, Known(results=[stage.id for stage in plan.stages]))[load] == Outcome("cached")
