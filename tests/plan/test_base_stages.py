"""Which stages are compared with which, and when a base is too old; which stages are meant by cells and steps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.plan import actions

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: [6.11.4, 7.8.3], source: {debian: rocksdb-tools, suite: sid}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null, measured: false}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 1m}
  - checkpoint: read
  - {name: overwrite, kind: db_bench, benchmarks: [overwrite], duration: 1m}
params: {keys: 200k}
sweep:
  cache: {option: cache_type, values: [lru_cache, hyper_clock_cache], from: loaded}
  threads: {param: threads, values: [1, 2], from: read}
repeat: 2
report: {base: {cache: lru_cache}}
compare_within: 7d
"""
NOW = datetime(2026, 1, 20, tzinfo=UTC)


@pytest.fixture
def plan(compile_text: Callable[..., Plan]) -> Plan:
    return compile_text(SPEC)


def named(plan: Plan, *words: str) -> list[PlannedStage]:
    return [stage for stage in plan.stages if all(word in stage.title for word in words)]


def test_the_base_of_a_stage_has_the_same_step_load_and_other_axes(plan: Plan) -> None:
    assert plan.report.within == 7 * 86400
    titles = {stage.id: stage.title for stage in plan.stages}
    found = {titles[stage]: {titles[each] for each in against} for stage, against in actions.base_stages(plan).items()}
    assert found["rocksdb-7.8.3 cache=hyper_clock_cache, load 2: readww"] == {
        "rocksdb-7.8.3 cache=lru_cache, load 2: readww"
    }
    assert found["rocksdb-6.11.4 cache=hyper_clock_cache threads=2, load 1: overwrite"] == {
        "rocksdb-6.11.4 cache=lru_cache threads=2, load 1: overwrite"
    }
    assert not any("fillseq" in title or "lru" in title for title in found)  # no figure, or the base itself


def test_a_base_is_due_when_it_is_too_old_for_what_runs(plan: Plan) -> None:
    (new,), (old,) = named(plan, "7.8.3", "hyper", "load 1: readww"), named(plan, "7.8.3", "lru", "load 1: readww")
    measured = {stage.id: NOW - timedelta(days=9) for stage in plan.stages if stage.id != new.id}
    why = "compare_within: the base was measured more than 7d00h ago"
    assert actions.outdated_bases(plan, {new.id}, measured, NOW) == {old.id: why}
    assert actions.outdated_bases(plan, (), measured, NOW) == {}
    assert actions.outdated_bases(plan, {new.id, old.id}, measured, NOW) == {}  # it runs anyway
    fresh = measured | {old.id: NOW - timedelta(days=6)}
    assert actions.outdated_bases(plan, {new.id}, fresh, NOW) == {}
    assert actions.outdated_bases(plan, {old.id}, measured, NOW) == {}  # a base has none itself


def test_without_the_word_nothing_is_due(compile_text: Callable[..., Plan]) -> None:
    plan = compile_text(SPEC.replace("compare_within: 7d\n", ""))
    measured = dict.fromkeys((stage.id for stage in plan.stages), NOW - timedelta(days=99))
    assert actions.outdated_bases(plan, set(measured), measured, NOW) == {}


def test_the_stages_that_are_meant(plan: Plan) -> None:
    titles = {stage.id: stage.title.rsplit(": ")[-1] for stage in plan.stages}

    def meant(*steps: str, load: bool = False) -> list[str]:
        return [titles[stage] for stage in actions.select_stages(plan.cells[:1], steps, load)]

    assert meant() == ["readww", "overwrite"] * 2
    assert meant("overwrite") == ["overwrite"] * 2
    assert meant("overwrite", load=True) == ["fillseq", "readww", "overwrite"] * 2
    assert meant("fillseq") == ["fillseq"] * 2
    assert meant(load=True) == ["fillseq", "readww", "overwrite"] * 2
    assert actions.step_names(plan) == ["fillseq", "readww", "overwrite"]
