"""Programs of collectors that this machine lacks, and placement; tests/inspect/test_doctor.py has the rest."""

import os

import pytest
from msgspec import convert

from stepgrid.model.plan import Plan, PlannedBuild, PlannedReport, PlannedStage, PlannedStep
from stepgrid.model.records import StepSetup, replace
from stepgrid.model.site import Site
from stepgrid.workflow.hooks import describe_shortcomings
from stepgrid.workflow.missing_tools import launch_line, missing_tools, placement

FG = {"name": "fg", "collector": "perf_record"}


@pytest.fixture(autouse=True)
def no_programs(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")


def stage(*collectors):
    setup = {"collectors": list(collectors)} if collectors else {}
    steps = tuple(PlannedStep(f"s{n}", "command", 1, {}, {}, 7, setup=convert(setup, StepSetup)) for n in (1, 2))
    return PlannedStage("s-1", "t", "b-1", None, (), 0, 0, "h", steps, 1.0, 0)


def test_each_is_named_once_with_its_package():
    mine = {"name": "mine", "command": ["offcputime-bpfcc"]}
    in_build = {"name": "own", "command": ["{program:python}"]}
    present = {"name": "sh", "command": ["/bin/sh"]}
    assert [*describe_shortcomings([stage(FG, mine, in_build, present)], Site())] == [
        "collector fg: there is no perf here, its steps are measured without it; install linux-perf",
        "collector mine: there is no offcputime-bpfcc here, its steps are measured without it",
    ]
    assert [*missing_tools([stage()], Site())] == []


def test_a_site_file_names_the_path_of_a_tool():
    assert [*missing_tools([stage(FG)], Site(tools={"perf": "/bin/sh"}))] == []


def points(engine="postgres", kind="sysbench", launch=None, **settings):
    setup = {"launch": launch} if launch else {}
    steps = (
        PlannedStep("points", kind, 1, {"threads": 1, **settings}, {}, 7, setup=convert(setup, StepSetup)),
        PlannedStep("warm", "sysbench", 1, {"threads": 1}, {}, 7, measured=False),
    )
    stage = PlannedStage("s-1", "t", "b-1", None, (), 0, 0, "h", steps, 1.0, 0)
    build = PlannedBuild("b-1", engine, engine, "", {})
    return Plan("p", "t", "x", None, (), (), (build,), (stage,), {"id": "h", "declared": False}, PlannedReport())


@pytest.mark.parametrize(
    ("plan", "processors", "is_told"),
    [
        (points(), {0, 1}, True),
        (points(kind="pgbench", threads=None, clients=1), {2, 3}, True),
        (points(), {0}, False),
        (points(), set(range(8)), False),
        (points(launch={"cpus": "0"}), {0, 1}, False),
        (points(launch={"numa": "interleave"}), {0, 1}, True),
        (replace(points(), stages=(*points().stages, *points(threads=2).stages)), {0, 1}, False),  # an axis of clients
        (points(threads=2), {0, 1}, False),
        (points(engine="rocksdb", kind="db_bench"), {0, 1}, False),
        (points(kind="sql", threads=None), {0, 1}, False),
    ],
)
def test_a_client_and_its_server_on_few_processors(plan, processors, is_told, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: processors)
    text = "points: one client and its server on 2 processors, as the kernel places them: loads may differ several "
    assert placement(plan) == (f"{text}times over" if is_told else "")
    assert launch_line() == f"`launch: {{cpus: {max(processors)}}}`"
