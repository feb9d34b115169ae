"""Time, power, previews, and which node of a cluster measures what."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from stepgrid.model.plan import Plan, PlannedReport
from stepgrid.model.records import replace
from stepgrid.model.status import NodeStatus, Status
from stepgrid.plan.actions import decide_action
from stepgrid.plan.estimate import (
    Node,
    Power,
    Progress,
    assign_nodes,
    estimate_power,
    needed_loads,
    saved_seconds,
)
from tests.conftest import Compile

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 7.8.3, source: {debian: rocksdb-tools, suite: sid}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 60s}
params: {keys: 200k}
sweep: {cache: {option: cache_size, values: [1, 2, 3], from: loaded}}
repeat: 2
"""


def test_sharing_saves_the_loads_that_cells_have_in_common(compile_text: Compile) -> None:
    plan = compile_text(SPEC)
    each = {stage.id: 100.0 if stage.parent is None else 60.0 for stage in plan.stages}
    assert saved_seconds(plan, each) == 2 * 2 * 100.0  # of three cells, twice, one load runs


def test_the_noisiest_step_decides(compile_text: Compile) -> None:
    figures = {"readww": [[100.0, 102.0], [200.0, 204.0]], "quiet": [[100.0, 100.1]]}
    plan, spread = compile_text(SPEC), math.log(1.02) / math.sqrt(2)
    power = estimate_power(figures, plan, 1000.0)
    loads, verdict = needed_loads(spread, 0.03), needed_loads(spread, 0.03, 0.02)
    assert (loads, verdict) == (6, 35)
    assert power == Power("readww", pytest.approx(spread), loads, 1000.0 / 2 * loads, verdict)
    # no number of loads gives a verdict of what counts as the same
    same = replace(plan, report=PlannedReport(smallest_effect=0.03))
    assert estimate_power(figures, same, None) == Power("readww", pytest.approx(spread), loads, None, None)


def test_what_was_not_repeated_or_did_nothing_tells_no_noise(compile_text: Compile) -> None:
    """Without its 0 the idle cell would be the quietest."""
    plan = compile_text(SPEC)
    assert estimate_power({"readww": [[100.0], [120.0]]}, plan, 100.0) is estimate_power({}, plan, 100.0) is None
    noisy, idle = [100.0, 110.0, 95.0], [0.0, 100.0, 100.0]
    assert estimate_power({"s": [noisy, idle]}, plan, None) == estimate_power({"s": [noisy]}, plan, None)


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.05, 0.1])
def test_it_is_what_the_noncentral_t_says(spread: float) -> None:
    def power(loads: int) -> float:
        edge = stats.t.ppf(0.975, loads - 1)
        return float(stats.nct.sf(edge, loads - 1, math.log(1.03) / (spread * math.sqrt(2 / loads))))

    loads = needed_loads(spread, 0.03)
    assert power(loads) >= 0.75
    assert loads == 2 or power(loads - 2) < 0.8


# Previews


def stage(seconds: float | None, size: int | None, load: bool = True) -> Node:
    return Node(decide_action(NodeStatus("s-1", "a stage", Status.MISSING, seconds=seconds)), load, (), bytes=size)


# Nodes of a cluster


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
def plan(compile_text: Compile) -> Plan:
    return compile_text(GRID)


def running(plan: Plan, but: Mapping[str, str] | None = None) -> dict[str, float]:
    return {stage.id: stage.seconds for stage in plan.stages if stage.id not in (but or {})}


def titled(plan: Plan, found: Mapping[str, str]) -> dict[str, str]:
    titles = {stage.id: stage.title for stage in plan.stages}
    return {titles[stage]: node for stage, node in found.items()}


def of(plan: Plan, *words: str) -> list[str]:
    return [stage.id for stage in plan.stages if all(word in stage.title for word in words)]


def test_each_load_is_on_a_node_of_its_own_with_all_that_begins_from_it(plan: Plan) -> None:
    found = titled(plan, assign_nodes(plan, Progress(running(plan), {}), NODES))
    by_load = {load: {node for title, node in found.items() if f"load {load}" in title} for load in (1, 2, 3)}
    assert sorted(by_load.values()) == [{"n1"}, {"n2"}, {"n3"}]


def test_what_was_begun_stays_where_it_is(plan: Plan) -> None:
    loads, (read, *_) = of(plan, "load 1: fillseq"), of(plan, "6.11.4 cache=lru_cache threads=1, load 1: readww")
    others = dict.fromkeys([*of(plan, "load 2"), *of(plan, "load 3")], "n1")
    measured = {**others, **dict.fromkeys(loads, "n3"), read: "n2"}  # that one was moved by somebody
    found = titled(plan, assign_nodes(plan, Progress(running(plan, measured), measured), NODES))
    compared = {node for title, node in found.items() if "threads=1, load 1: readww" in title}
    assert compared == {"n2"}
    images = {node for title, node in found.items() if "threads=2, load 1: readww" in title}
    assert images == {"n3"}


def test_the_base_of_a_table_is_a_comparison_too(compile_text: Compile) -> None:
    """With one load only, cells that nothing compares are spread over nodes."""
    one = GRID.replace("repeat: 3", "repeat: 1").replace("30s", "600s")
    table = "tables: [{title: t, rows: threads, columns: cache, metrics: qps, base: {threads: 1}}]"
    for spec, expected in ((one, 2), (one.replace("report: {", f"report: {{{table}, "), 1)):
        plan = compile_text(spec)
        found = assign_nodes(plan, Progress(running(plan), {}), NODES)
        assert len({found[stage] for stage in of(plan, "readww")}) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(data=st.data(), nodes=st.integers(1, 5))
def test_a_run_that_goes_on_at_any_point_divides_no_comparison(plan: Plan, data: st.DataObject, nodes: int) -> None:
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
