"""Actions of the next run on each node; arms and bases; the stages that a request means."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import convert

from stepgrid.model.plan import PlannedAxis, PlannedReport
from stepgrid.model.records import replace
from stepgrid.model.status import Action, NodeStatus, Status
from stepgrid.plan import actions
from stepgrid.plan.actions import NO_IMAGE, add_replays, arms, choose_base, decide_action
from stepgrid_inspect.preview import leave_unsupported
from stepgrid_inspect.results import select_stages
from tests.cases import rows

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
    def __init__(self, plan):
        self.plan = plan
        self.old, self.new = (next(b.id for b in plan.builds if b.version == v) for v in ("6.11.4", "7.8.3"))
        self.load = next(s.id for s in plan.stages if s.build == self.new and s.parent is None)
        self.reads = [s.id for s in plan.stages if s.parent == self.load]
        self.old_load = next(s.id for s in plan.stages if s.build == self.old and s.parent is None)
        self.old_reads = [s.id for s in plan.stages if s.parent == self.old_load]

    def found(self, statuses, images=(), **again):
        stages = sorted(self.plan.stages, key=lambda stage: stage.rank)
        found = {node: decide_action(each, again.get(node)) for node, each in nodes(self.plan, statuses).items()}
        return add_replays(found, stages, lambda stage: None if stage in images else NO_IMAGE)


def nodes(plan, statuses):
    """Missing, where nothing else is said."""
    listed = [*plan.builds, *plan.stages]
    return {each.id: NodeStatus(each.id, "t", statuses.get(each.id, Status.MISSING), "a reason") for each in listed}


@pytest.fixture
def case(compile_text):
    return Case(compile_text(SPEC))


@pytest.mark.parametrize(
    ("status", "action"),
    [
        (Status.DONE, Action.KEEP),
        (Status.UNSUPPORTED, Action.LEAVE),
        (Status.ELSEWHERE, Action.LEAVE),
        (Status.FAILED, Action.RETRY),
        (Status.INTERRUPTED, Action.RETRY),
        (Status.RUNNING, Action.MEASURE),
        (Status.WAITING, Action.MEASURE),
        (Status.BLOCKED, Action.MEASURE),
        (Status.MISSING, Action.MEASURE),
    ],
)
def test_the_action_of_each_status(status, action):
    found = decide_action(NodeStatus("s-1", "t", status))
    assert (found.action, found.times) == (action, action in (Action.MEASURE, Action.RETRY))


def test_a_load_without_an_image_is_replayed_only_for_a_child_that_runs(case):
    some = {case.load: Status.DONE, case.reads[0]: Status.DONE}
    load = case.found(some)[case.load]
    assert (load.status, load.action, load.because) == (Status.DONE, Action.REPLAY, "a reason; " + NO_IMAGE)
    assert case.found({**some, case.reads[1]: Status.DONE})[case.load].action is Action.KEEP
    assert case.found(some, (case.load,))[case.load].action is Action.KEEP


def test_what_is_measured_again_runs_and_needs_its_database(case):
    everything = {stage.id: Status.DONE for stage in case.plan.stages}
    found = case.found(everything, **{case.reads[0]: "asked for"})
    assert (found[case.reads[0]].action, found[case.reads[0]].why) == (Action.REDO, "asked for")
    assert found[case.load].action is Action.REPLAY
    assert found[case.reads[1]].action is found[case.old_load].action is Action.KEEP
    load = case.found(everything, **{case.load: "a", case.reads[0]: "b"})
    assert (load[case.load].action, load[case.reads[0]].action) == (Action.REDO, Action.REDO)


def test_a_catalogue_tells_what_will_be_unsupported(case):
    catalogues = {case.old: {}, case.new: {"cache_type": {}}}
    found = leave_unsupported(case.plan, case.found({case.load: Status.DONE}), catalogues)
    assert {(found[read].action, found[read].why) for read in case.old_reads} == {
        (Action.LEAVE, "the build has no option cache_type")
    }
    assert [found[read].action for read in case.reads] == [Action.MEASURE, Action.MEASURE]


RUNNING = """\
title: t
builds: {prod: {engine: mysql, version: 8.0.40, source: {server: prod}}}
steps:
  - {name: load, kind: sql, sql: ["drop table if exists t"], mutates: true}
  - checkpoint: loaded
  - {name: ask, kind: sql, sql: ["select 1"]}
sweep: {size: {option: max_connections, values: [1, 2], from: loaded}}
"""


def test_on_a_server_that_runs_already_a_load_is_run_again_for_each_stage_after_it(compile_text):
    plan = compile_text(RUNNING)
    (load,) = [stage.id for stage in plan.stages if stage.parent is None]
    first, second = (stage.id for stage in plan.stages if stage.parent)
    what = "for what starts from it: a running server has no images"

    def found(*done):
        each = {node: decide_action(status) for node, status in nodes(plan, dict.fromkeys(done, Status.DONE)).items()}
        stages = sorted(plan.stages, key=lambda stage: stage.rank)
        return add_replays(each, stages, lambda _: NO_IMAGE, [plan.builds[0].id])[load]

    assert (found().action, found().times, found().why) == (Action.MEASURE, 3, f"run 2 times more {what}")
    some = found(load, first)
    assert (some.action, some.times, some.why) == (Action.REPLAY, 1, f"run once more {what}")
    assert (found(load, first, second).action, found(load, first, second).times) == (Action.KEEP, 0)


# Arms: where an axis names the builds, they are compared by it


AXES = (
    PlannedAxis("build", ("my", "ma")),
    PlannedAxis("server", ("innodb", "maria", "rocks")),
    PlannedAxis("range", ("10", "100"), ("x",)),
)
CELLS = ({"build": "my", "server": "innodb"}, {"build": "ma", "server": "maria"}, {"build": "ma", "server": "rocks"})


def names(cells=CELLS, **said):
    return [axis.name for axis in arms(AXES, cells, convert({"base": {"server": "innodb"}, **said}, PlannedReport))]


def test_an_axis_that_names_the_builds_stands_for_them():
    assert names() == ["server", "range"]


@pytest.mark.parametrize("said", rows(__file__, "what_a_report_asks_for_stays"))
def test_what_a_report_asks_for_stays(said):
    assert names(**said) == ["build", "server", "range"]


# Bases, and stages that are meant


STEPS = """\
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
def plan(compile_text):
    return compile_text(STEPS)


def named(plan, *words):
    return [stage for stage in plan.stages if all(word in stage.title for word in words)]


def test_the_base_of_a_stage_has_the_same_step_load_and_other_axes(plan):
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


def test_a_base_is_due_when_it_is_too_old_for_what_runs(plan):
    (new,), (old,) = named(plan, "7.8.3", "hyper", "load 1: readww"), named(plan, "7.8.3", "lru", "load 1: readww")
    measured = {stage.id: NOW - timedelta(days=9) for stage in plan.stages if stage.id != new.id}
    why = "compare_within: the base was measured more than 7d00h ago"
    assert actions.outdated_bases(plan, {new.id}, measured, NOW) == {old.id: why}
    assert actions.outdated_bases(plan, (), measured, NOW) == {}
    assert actions.outdated_bases(plan, {new.id, old.id}, measured, NOW) == {}  # it runs anyway
    fresh = measured | {old.id: NOW - timedelta(days=6)}
    assert actions.outdated_bases(plan, {new.id}, fresh, NOW) == {}
    assert actions.outdated_bases(plan, {old.id}, measured, NOW) == {}  # a base has none itself


def test_the_stages_that_are_meant(plan):
    titles = {stage.id: stage.title.rsplit(": ")[-1] for stage in plan.stages}

    def meant(*steps, load=False):
        return [titles[stage] for stage in select_stages(plan.cells[:1], steps, load)]

    assert meant() == ["readww", "overwrite"] * 2
    assert meant("overwrite") == ["overwrite"] * 2
    assert meant("overwrite", load=True) == ["fillseq", "readww", "overwrite"] * 2
    assert meant("fillseq") == ["fillseq"] * 2
    assert meant(load=True) == ["fillseq", "readww", "overwrite"] * 2
    assert actions.step_names(plan) == ["fillseq", "readww", "overwrite"]
    for count, after in ((1, ["fillseq"]), (2, ["readww"])):  # without a checkpoint the load is the only stage
        repeats = tuple(replace(repeat, stages=repeat.stages[:count]) for repeat in plan.cells[0].repeats)
        stages = select_stages([replace(plan.cells[0], repeats=repeats)])
        assert [titles[stage] for stage in stages] == after * 2


def test_without_a_base_the_first_axis_that_varies_is_it():
    build, threads = PlannedAxis("build", ("r-1", "r-2")), PlannedAxis("threads", ("1",), ("readww",))
    assert choose_base([build, threads, PlannedAxis("cache", ("lru", "hyper"), ("readww",))], {}) == {"cache": "lru"}
    assert choose_base([build, threads], {}) == {"build": "r-1"}
    assert choose_base([threads], {}) == {}
