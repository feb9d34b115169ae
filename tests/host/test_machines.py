"""A plan for several machines: a host measures its own stages, the others are elsewhere."""

import platform
from dataclasses import replace

import pytest

from stepgrid.host import cluster_job, facts
from stepgrid.language.site import VARIABLE
from stepgrid.model.plan import Plan, PlannedCell, PlannedStage, PlannedStep, Repeat, Report
from stepgrid.store.status.reader import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from tests.run import finished

HERE, BIG = {"id": "here", "declared": True}, {"id": "dell32", "declared": True, "cores": 4096}
LOAD = PlannedStage(
    "s-1", "one", "b-1", None, (), 0, 0, "here", (PlannedStep("fill", "db_bench", 1, {}, {}, 1),), 1.0, 0
)
FAR = replace(LOAD, id="s-2", hardware="dell32", build="b-2")


@pytest.fixture
def plan():
    from stepgrid.model.plan import PlannedBuild

    builds = tuple(PlannedBuild(f"b-{n}", f"r{n}", "rocksdb", "1", {"system": "x"}) for n in (1, 2))
    cells = tuple(PlannedCell(f"c-{s.id}", {}, s.build, (), (Repeat(0, 0, (s.id,)),)) for s in (LOAD, FAR))
    machines = {"here": HERE, "dell32": BIG}
    return Plan("p", "t", "a.yaml", None, (), cells, builds, (LOAD, FAR), HERE, Report(), machines=machines)


def test_what_another_machine_measures_is_not_asked_for(plan, tmp_path):
    work = run_request.work(plan, Store(tmp_path / "outputs"))
    assert work.lacking == {"b-1", "s-1"}
    assert work.elsewhere == {"s-2": "dell32"}


def test_when_the_rest_is_done_there_is_nothing_to_do_here(plan, tmp_path):
    store = Store(tmp_path / "outputs")
    finished.make_build(store, "b-1")
    run_request.work(plan, store)
    finished.result(store, LOAD)
    finished.summarize(store, plan)
    work = run_request.work(plan, store)
    assert work.is_over
    said = work.nothing_to_do.splitlines()[0]
    assert said == "nothing to do: 2 cells, 1 stage measured, 1 stage elsewhere (needs dell32)"


def test_its_state_says_whom_it_needs(plan, tmp_path):
    nodes = StatusReader(Store(tmp_path / "outputs"), plan).read().nodes
    assert (nodes["s-2"].status, nodes["b-2"].status) == ("elsewhere", "elsewhere")
    assert nodes["s-2"].reason.startswith("needs dell32: ")


def test_a_result_that_was_brought_from_there_counts(plan, tmp_path):
    store = Store(tmp_path / "outputs")
    finished.result(store, FAR)
    assert run_request.work(plan, store).elsewhere == {}
    assert StatusReader(store, plan).read().nodes["s-2"].status == "done"


def test_with_one_machine_nothing_is_elsewhere(plan, tmp_path):
    alone = replace(plan, stages=(FAR,), machines={"dell32": BIG})
    work = run_request.work(alone, Store(tmp_path / "outputs"))
    assert work.elsewhere == {}
    assert work.lacking == {"b-2", "s-2"}


def test_on_a_cluster_a_stage_is_elsewhere_where_the_site_file_names_no_nodes(plan, tmp_path, monkeypatch):
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)
    (tmp_path / "site.yaml").write_text("slurm: {machines: {dell32: {nodes: [n1]}}}\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "site.yaml"))
    nodes = StatusReader(Store(tmp_path / "outputs"), plan).read().nodes
    assert (nodes["s-1"].status, nodes["s-2"].status) == ("elsewhere", "missing")
    assert nodes["s-1"].reason == "needs here: the site file's `slurm: machines` has no entry for it"


def test_on_a_cluster_a_node_is_also_held_against_the_machine_that_started_the_run(monkeypatch):
    here, other = {"declared": False, "cores": 2}, {"cores": 4}
    assert facts.machine_difference(here, other) == ""
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)
    assert facts.machine_difference(here, {"cores": 2}) == ""
    assert facts.machine_difference(here, other) == (
        "`hardware: here` is the machine that started the run, and this node is another: "
        "cores: the spec says 2, this host has 4"
    )


def test_how_a_cluster_calls_this_machine(monkeypatch):
    monkeypatch.setenv("SLURMD_NODENAME", "n7")
    assert cluster_job.node() == "n7"
    monkeypatch.delenv("SLURMD_NODENAME")
    assert cluster_job.node() == platform.node().partition(".")[0]
