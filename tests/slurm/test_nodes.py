"""Which node of a cluster measures what."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepgrid_slurm import Progress, assign_nodes

GRID = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: [6.11.4, 7.8.3], source: {debian: rocksdb-tools, suite: sid}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: 100s}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 30s}
params: {keys: 200k}
sweep:
  cache: {option: cache_type, values: [lru_cache, hyper_clock_cache], from: loaded}
  threads: {param: threads, values: [1, 2], from: loaded}
repeat: 3
report: {base: {cache: lru_cache}}
"""
NODES = ("n1", "n2", "n3")


@pytest.fixture
def plan(compile_text):
    return compile_text(GRID)


def running(plan, but=None):
    return {stage.id: stage.seconds for stage in plan.stages if stage.id not in (but or {})}


def titled(plan, found):
    titles = {stage.id: stage.title for stage in plan.stages}
    return {titles[stage]: node for stage, node in found.items()}


def of(plan, *words):
    return [stage.id for stage in plan.stages if all(word in stage.title for word in words)]


def test_each_load_is_on_a_node_of_its_own_with_all_that_begins_from_it(plan):
    found = titled(plan, assign_nodes(plan, Progress(running(plan), {}), NODES))
    by_load = {load: {node for title, node in found.items() if f"load {load}" in title} for load in (1, 2, 3)}
    assert sorted(by_load.values()) == [{"n1"}, {"n2"}, {"n3"}]


def test_what_was_begun_stays_where_it_is(plan):
    loads, (read, *_) = of(plan, "load 1: fillseq"), of(plan, "6.11.4 cache=lru_cache threads=1, load 1: readww")
    others = dict.fromkeys([*of(plan, "load 2"), *of(plan, "load 3")], "n1")
    measured = {**others, **dict.fromkeys(loads, "n3"), read: "n2"}  # that one was moved by somebody
    found = titled(plan, assign_nodes(plan, Progress(running(plan, measured), measured), NODES))
    compared = {node for title, node in found.items() if "threads=1, load 1: readww" in title}
    assert compared == {"n2"}
    images = {node for title, node in found.items() if "threads=2, load 1: readww" in title}
    assert images == {"n3"}


def test_the_base_of_a_table_is_a_comparison_too(compile_text):
    """With one load only, cells that nothing compares are spread over nodes."""
    one = GRID.replace("repeat: 3", "repeat: 1").replace("30s", "600s")
    table = "tables: [{title: t, rows: threads, columns: cache, metrics: qps, base: {threads: 1}}]"
    for spec, expected in ((one, 2), (one.replace("report: {", f"report: {{{table}, "), 1)):
        plan = compile_text(spec)
        found = assign_nodes(plan, Progress(running(plan), {}), NODES)
        assert len({found[stage] for stage in of(plan, "readww")}) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(data=st.data(), nodes=st.integers(1, 5))
def test_a_run_that_goes_on_at_any_point_divides_no_comparison(plan, data, nodes):
    """Whatever was measured by then, in the order of the first run."""
    names = [f"n{number}" for number in range(nodes)]
    first = assign_nodes(plan, Progress(running(plan), {}), names)
    order = sorted(plan.stages, key=lambda stage: stage.rank)
    done = data.draw(st.integers(0, len(order)))
    measured = {stage.id: first[stage.id] for stage in order[:done]}
    whole = {**measured, **assign_nodes(plan, Progress(running(plan, measured), measured), names)}
    assert whole.keys() == first.keys()
    for threads in ("threads=1", "threads=2"):
        for load in (1, 2, 3):
            assert len({whole[stage] for stage in of(plan, f"{threads}, load {load}: readww")}) == 1
    for load in (1, 2, 3):
        assert len({whole[stage] for stage in of(plan, f"load {load}: fillseq")}) == 1
