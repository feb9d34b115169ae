"""Whoever asks gets the same answer: plan, status, results, collect and the next run. How long stages take."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.collect.job import collect
from stepgrid.collect.query import open_tables
from stepgrid.host import locks
from stepgrid.host.files import write_json
from stepgrid.host.locks import locked
from stepgrid.model.plan import (
    CellStep,
    Plan,
    PlannedBuild,
    PlannedCell,
    PlannedRepeat,
    PlannedReport,
    PlannedStage,
    PlannedStep,
)
from stepgrid.model.records import replace
from stepgrid.model.status import Action, ActiveWork, NodeStatus, Status
from stepgrid.store import plans, stage_requests
from stepgrid.store.active_run import hold_run_lock, note_skipped_stage
from stepgrid.store.paths import RUN_LOCK
from stepgrid.store.status import StatusReader, job_status, sum_waits
from stepgrid.store.store import Store
from stepgrid.workflow.remaining_work import remaining_work
from stepgrid_inspect import results as results_command
from stepgrid_inspect import status as status_command
from stepgrid_inspect.preview import preview_json, preview_run
from tests.run import finished

HERE, BIG = {"id": "here", "declared": True}, {"id": "big", "declared": True, "cores": 4096}
STEP = PlannedStep("read", "db_bench", 1, {"benchmarks": ["readrandom"]}, {}, 1)
BUILD = PlannedBuild("b-1", "one", "rocksdb", "1", {"system": "x"})
LOAD = PlannedStage("s-load", "load", "b-1", None, ("s-0",), 0, 0, "here", (STEP,), 10.0, 0)
STAGES = [replace(LOAD, id=f"s-{n}", title=f"read {n}", parent="s-load", children=(), rank=n + 1) for n in range(13)]
FAR = replace(LOAD, id="s-far", title="far", children=(), hardware="big", rank=9)
CELLS = tuple(
    PlannedCell(f"c-{s.id}", {}, "b-1", (CellStep("read", "db_bench", 0, 0, True),), (PlannedRepeat(0, 0, (s.id,)),))
    for s in (LOAD, *STAGES, FAR)
)
MACHINES = {"here": HERE, "big": BIG}
PLAN = Plan(
    "p", "t", "a.yaml", None, (), CELLS, (BUILD,), (LOAD, *STAGES, FAR), HERE, PlannedReport(), machines=MACHINES
)
HOLD = """
from stepgrid.host.locks import host_lock
with host_lock(shared=False):
    print(flush=True)
    input()
"""


def nothing(_store, _stage):
    pass


def done(store, stage):
    finished.result(store, stage)


def unsupported(store, stage):
    attempt = store.new_attempt(stage.id)
    record = {"stage": stage.id, "status": "unsupported", "reason": "the build has no option x", "steps": []}
    write_json(attempt / "result.json", record)
    store.publish_result(stage.id, attempt)


def ended(status):
    def made(store, stage):
        write_json(store.new_attempt(stage.id) / "failure.json", {"status": status, "step": "read", "message": "no"})

    return made


failed, interrupted, set_aside = ended("failed"), ended("interrupted"), ended("broken")


def killed(store, stage):
    store.new_attempt(stage.id)


def broken(store, stage):
    (finished.result(store, stage) / "result.json").write_text("{")


def retracted(store, stage):
    stage_requests.retract(store, finished.result(store, stage), "noise")


def redone(store, stage):
    finished.result(store, stage)
    stage_requests.request_redo(store, stage.id, "noise", by="me")


def redone_in_vain(store, stage):
    redone(store, stage)
    failed(store, stage)


def running(store, stage):
    (store.new_attempt(stage.id) / "journal.jsonl").write_text('{"t": 1.0, "event": "begun"}\n')


def waiting(store, stage):
    write_json(store.new_attempt(stage.id) / "attempt.json", {"started": "2026-11-20T10:00:00+00:00"})


HELD = (running, waiting)  # their jobs are there
KINDS = {
    nothing: Status.MISSING,
    done: Status.DONE,
    unsupported: Status.UNSUPPORTED,
    failed: Status.FAILED,
    interrupted: Status.INTERRUPTED,
    set_aside: Status.INTERRUPTED,
    killed: Status.INTERRUPTED,
    broken: Status.INTERRUPTED,
    retracted: Status.MISSING,
    redone: Status.DONE,
    redone_in_vain: Status.DONE,
    running: Status.RUNNING,
    waiting: Status.WAITING,
}
AFTER = {Status.FAILED: Status.BLOCKED, Status.UNSUPPORTED: Status.UNSUPPORTED}  # the load that they start from


@pytest.fixture(scope="module", autouse=True)
def busy():
    """Another process has the host."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEPGRID_HOST_LOCK", f"{folder}/host.lock")
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        assert locks.host_lock_path().exists()
        yield
        process.communicate("\n")


@contextmanager
def filled(kinds):
    with TemporaryDirectory() as folder, ExitStack() as held:
        store = Store(Path(folder) / "outputs")
        plans.write(PLAN, store.plan(PLAN.digest))
        finished.make_build(store, "b-1")
        for stage in PLAN.stages:
            kind = kinds.get(stage.id, nothing)
            kind(store, stage)
            if kind in HELD:
                held.enter_context(locked(store.lock(stage.id)))
        yield store


def expected(kinds):
    load = KINDS[kinds["s-load"]]
    found = {"b-1": Status.DONE, "s-load": load, "s-far": Status.ELSEWHERE}
    for stage in STAGES:
        own = KINDS[kinds[stage.id]]
        found[stage.id] = AFTER.get(load, own) if own is Status.MISSING else own
    return found


STATES = st.fixed_dictionaries({stage.id: st.sampled_from([*KINDS]) for stage in (LOAD, *STAGES)})
EVERY = {"s-load": done} | {f"s-{number}": kind for number, kind in enumerate(KINDS)}


@given(STATES)
@settings(max_examples=15, deadline=None)
def test_all_agree_about_every_stage(kinds):
    wanted = expected(kinds)
    with filled(kinds) as store:
        status = StatusReader(store, PLAN).read()
        assert {node.id: node.status for node in status.nodes.values()} == wanted
        assert _states(status_command.to_json(status)["nodes"]) == wanted
        planned = preview_run(PLAN, store)
        assert _states(preview_json(planned)["nodes"]) == wanted
        assert [node.status.action for node in planned.nodes] == [node.action for node in status.nodes.values()]
        assert _states(results_command.results_json(store, PLAN, [stage.id for stage in PLAN.stages])) == {
            node: each for node, each in wanted.items() if node != "b-1"
        }
        assert {node.id: node.status for node in job_status(store, "p").nodes.values()} == wanted
        left = remaining_work(PLAN, store)
        assert left.lacking == _lacking(kinds, wanted)
        runs = {node.id for node in status.nodes.values() if node.action in ("measure", "retry", "redo")}
        inherited = {node for node in left.lacking if wanted[node] is Status.UNSUPPORTED}
        assert left.lacking - inherited == runs


def test_collect_agrees_about_stages_of_every_status():
    wanted = expected(EVERY)
    assert {*wanted.values()} == {*Status} - {Status.BLOCKED}
    with filled(EVERY) as store:
        assert {node: each.status for node, each in collect(store, PLAN).items()} == wanted
        assert _in_tables(store) == {stage: each for stage, each in wanted.items() if stage != "b-1" and each != "done"}


def test_collect_agrees_about_what_a_failure_blocks():
    kinds = dict.fromkeys((stage.id for stage in STAGES), nothing) | {"s-load": failed}
    with filled(kinds) as store:
        collect(store, PLAN)
        assert _in_tables(store) == {stage: each for stage, each in expected(kinds).items() if stage != "b-1"}


def _states(nodes):
    return {node.get("id") or node["stage"]: node["state"] for node in nodes}


def _in_tables(store):
    """Without those that have a result: whether its figures can be read is said there, too."""
    with open_tables(store.tables("p")) as connection:
        query = "SELECT DISTINCT stage, status FROM steps WHERE attempt IS NULL OR status = 'unsupported'"
        return dict(connection.execute(query).fetchall())


def _lacking(kinds, wanted):
    again = {stage for stage, kind in kinds.items() if kind in (redone, redone_in_vain)}
    has = {stage for stage, kind in kinds.items() if kind in (done, unsupported)}
    return (kinds.keys() - has) | again


def test_a_redo_that_failed_is_done_and_says_so():
    kinds = dict.fromkeys((stage.id for stage in (LOAD, *STAGES)), done) | {"s-1": redone_in_vain}
    with filled(kinds) as store:
        status = StatusReader(store, PLAN).read()
        node = status.nodes["s-1"]
        assert (node.status, node.action) == (Status.DONE, Action.REDO)
        assert node.why.startswith("asked for by me, ")
        assert node.why.endswith(" UTC: noise; failed: read: no")
        assert (status.is_complete, status.has_failed) == (False, False)
        assert round(status.eta.seconds or 0) == 24  # with the load, which has no image


@pytest.mark.parametrize("command", ["status", "watch", "plan"])
def test_help_has_the_words_and_their_meanings(command, capsys):
    from stepgrid.cli import main

    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for word in (*Status, *(Action if command == "plan" else ())):
        assert f"{word} {word.meaning}" in text


@pytest.mark.parametrize(("page", "words"), [("guides/watching.md", Status), ("reference/cli.md", Action)])
def test_documentation_has_the_words_and_their_meanings(page, words):
    text = (Path(__file__).parents[2] / "docs" / page).read_text()
    assert [word for word in words if f"| `{word}` | {word.meaning}" not in text] == []


@pytest.mark.parametrize("node", ["s-load", "b-1"])
@pytest.mark.parametrize(("hostname", "age", "status"), [("n9", 5, "running"), ("n9", 600, "interrupted")])
def test_a_job_of_another_machine_runs_as_long_as_it_gives_a_sign_of_life(hostname, age, status, node, tmp_path):
    """Its lock is not among those that the kernel here lists."""
    store = Store(tmp_path)
    attempt = store.new_attempt(node)
    write_json(attempt / "attempt.json", {"hostname": hostname, "started": "2026-11-20T10:00:00+00:00"})
    os.utime(attempt / "attempt.json", (time.time() - age,) * 2)
    found = StatusReader(store, PLAN).read().nodes[node]
    assert found.status == status
    assert (found.work.hostname if found.work else "") == (hostname if status == "running" else "")
    write_json(attempt / "failure.json", {"status": "failed", "message": "no"})
    assert StatusReader(store, PLAN).read().nodes[node].status == "failed"


def test_what_waits_has_all_of_its_time_before_it():
    times = list[float | None]()
    for kind in (nothing, waiting):
        with filled({"s-load": kind}) as store:
            times.append(StatusReader(store, PLAN).read().eta.seconds)
    assert times[0] == times[1]


def test_a_lock_tells_of_a_run_and_a_build_that_have_written_nothing(tmp_path):
    store = Store(tmp_path)
    with locked(store.lock(RUN_LOCK)), locked(store.lock("b-1")):
        status = StatusReader(store, PLAN).read()
    assert status.run.pid == os.getpid()
    assert status.nodes["b-1"].status is Status.WAITING


def test_a_stage_that_a_run_leaves_out_says_what_it_needs(tmp_path):
    store = Store(tmp_path)
    with hold_run_lock(store, PLAN.spec, until="the 6m", plan=PLAN.digest):
        for stage, seconds in (("s-1", 90.0), ("s-2", None)):
            note_skipped_stage(store, stage, seconds)
        nodes = StatusReader(store, PLAN).read().nodes
    assert nodes["s-1"].reason == "needs about 1m30s, more than is left of the 6m"
    assert nodes["s-2"].reason == "more than is left of the 6m"


def test_images_of_the_same_steps_tell_the_size_of_one_to_come(tmp_path):
    same, other = replace(LOAD, id="s-same"), replace(LOAD, id="s-other", steps=(replace(STEP, settings={}),))
    store = Store(tmp_path)
    done(store, LOAD)
    image = store.image("s-load")
    image.mkdir(parents=True)
    write_json(image / "image.json", {"bytes": 9})
    planned = preview_run(replace(PLAN, stages=(*PLAN.stages, same, other)), store)
    sizes = {node.status.id: node.bytes for node in planned.nodes}
    assert (sizes["s-load"], sizes["s-same"], sizes["s-other"]) == (9, 9, None)


def test_a_build_that_waited_counts_in_the_run_that_made_it(tmp_path):
    store = Store(tmp_path)
    finished.make_build(store, "b-1")
    record = store.build("b-1") / "build.json"
    write_json(record, {"id": "b-1", "waited": 60.0})
    with hold_run_lock(store, PLAN.spec, plan=PLAN.digest):
        waits = list[float]()
        for made in (time.time() - 100.0, time.time() + 1.0):
            os.utime(record, (made, made))
            waits.append(StatusReader(store, PLAN).read().waited)
    assert waits == [0.0, 60.0]
    assert StatusReader(store, PLAN).read().waited == 0.0


BEGAN = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("node", "work", "seconds"),
    [
        ("s-1", {"since": BEGAN + 20}, 20.0),  # it waited until it began
        ("s-1", {"since": BEGAN + 4}, 0.0),  # a look at the host is no wait
        ("s-1", {"waits": "the host", "since": BEGAN + 20}, 50.0),
        ("s-1", {}, 0.0),
        ("b-1", {"since": BEGAN + 20}, 20.0),
    ],
)
def test_a_run_waits_as_long_as_its_nodes_for_the_host(node, work, seconds):
    active = ActiveWork((1,), Path("20260101T000000.000000Z"), **work)
    nodes = [NodeStatus(node, "t", Status.RUNNING, work=active)]
    assert sum_waits(nodes, BEGAN, BEGAN + 50) == seconds
    assert sum_waits(nodes, None, BEGAN + 50) == 0.0
