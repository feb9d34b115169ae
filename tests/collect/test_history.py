"""Figures of older results of a plan: what the noise floor is made of, beside the newest."""

from pathlib import Path

import pytest

from stepgrid.collect import job
from stepgrid.collect.job import collect
from stepgrid.model.records import replace
from stepgrid.plan import plan_file
from stepgrid.store import plans
from stepgrid.summarize.data.tables_reader import load
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture
def found(tmp_path: Path) -> Experiment:
    made = Experiment(tmp_path, caches=("lru",), threads=("1",), loads=2)
    made.add_build(BUILD)
    for at in range(2):
        made.add_load(BUILD, at)
        made.add(BUILD, "lru", "1", at, {"readww": 1000.0, "overwrite": 2000.0})
    collect(made.store, made.plan)
    return made


def past(made: Experiment) -> list[tuple[object, ...]]:
    collect(made.store, made.plan)
    every = load(made.store.tables(made.plan.digest), ["build", "cache", "threads"]).history
    return [(each.place, each.step, each.cell, each.load, each.restored, each.host, each.qps) for each in every]


def test_a_plan_that_was_measured_once_has_none(found: Experiment) -> None:
    assert past(found) == []


def test_an_older_result_of_a_stage_is_history(found: Experiment) -> None:
    found.add(BUILD, "lru", "1", 1, {"readww": 1100.0, "overwrite": 2200.0})
    stage, first = "s-7.8.3-lru-1-1", "s-7.8.3-lru-1-0"
    assert past(found) == [
        ((stage, 0), "readww", f"{first}/0", 2, True, "bench-7", 1000.0),
        ((stage, 1), "overwrite", f"{first}/1", 2, True, "bench-7", 2000.0),
    ]


def test_results_of_another_plan_are_none(found: Experiment) -> None:
    """A verdict would depend on which specs share the store."""
    other = replace(found.plan, digest="", spec="specs/other.yaml", stages=found.plan.stages)
    other = replace(other, digest=plan_file.digest(other))
    plans.write(other, found.store.plan(other.digest))
    collect(found.store, other)
    assert list(job.history_rows(found.store, replace(found.plan, cells=(), stages=()), {})) == []


def test_only_so_many_results_are_read(found: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        found.add(BUILD, "lru", "1", 1, {"readww": 1100.0, "overwrite": 2200.0})
        collect(found.store, found.plan)
    monkeypatch.setattr(job, "MOST", 1)
    assert len(past(found)) == 2  # of its two steps
