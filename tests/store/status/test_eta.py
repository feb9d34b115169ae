"""How long stages take, by what was declared and measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.model.status import Action, ActiveWork, Eta, NodeStatus, Result, Status
from stepgrid.store.status.eta import Pace, eta, pace

LOAD = PlannedStage(
    "s-load", "load", "b-1", None, (), 0, 0, "h", (PlannedStep("fill", "db_bench", 1, {}, {}, 1),), 100.0, 0
)
READ = replace(
    LOAD, id="s-read", parent="s-load", seconds=10.0, steps=(PlannedStep("read", "db_bench", 1, {"a": 1}, {}, 1),)
)
WRITE = replace(READ, id="s-write", seconds=20.0, steps=(PlannedStep("write", "db_bench", 1, {"a": 2}, {}, 1),))
STAGES = {stage.id: stage for stage in (LOAD, READ, WRITE)}


def took(stage: PlannedStage, seconds: float | None, name: str = "1") -> tuple[PlannedStage, Result]:
    return stage, Result(Path(name), seconds=seconds)


def node(
    stage: PlannedStage, status: Status = Status.MISSING, seconds: float | None = 10.0, **more: object
) -> NodeStatus:
    return NodeStatus(stage.id, "t", status, action=Action.MEASURE, times=1, seconds=seconds, **more)  # type: ignore[arg-type]


def test_nothing_was_measured() -> None:
    found = pace([])
    assert [found.seconds(stage) for stage in STAGES.values()] == [100.0, 10.0, 20.0]
    assert found.seconds(replace(LOAD, seconds=0.0)) is None
    assert not found.knows(LOAD)


def test_the_same_was_measured_and_what_is_alike_is_scaled() -> None:
    found = pace([took(READ, 15.0), took(READ, 25.0, "2"), took(READ, 14.0, "3")])
    assert found.seconds(READ) == 15.0  # the median
    assert found.seconds(WRITE) == 20.0 * (15 + 25 + 14) / 30
    assert found.seconds(LOAD) == 100.0  # far shorter or longer: a load says nothing of what follows
    assert (found.knows(WRITE), found.knows(LOAD)) == (True, False)


def test_one_without_an_estimate_is_known_once_it_was_measured() -> None:
    unknown = replace(READ, seconds=0.0)
    assert pace([took(unknown, 7.0)]).seconds(unknown) == 7.0
    assert pace([took(READ, None)]) == Pace()  # unsupported


def test_what_runs_is_less_what_is_over_of_it() -> None:
    work = ActiveWork((1,), since=100.0)
    found = eta([node(READ, Status.RUNNING, work=work), node(LOAD, seconds=100.0)], STAGES, Pace(), True, 104.0)
    assert found == Eta(106.0, is_rough=True)
    assert eta([node(READ, Status.RUNNING, work=work)], STAGES, Pace(), True, 999.0).seconds == 0.0


def test_a_run_tries_again_no_more_what_failed_in_it() -> None:
    nodes = [node(READ, Status.FAILED), node(WRITE, Status.BLOCKED)]
    assert [eta(nodes, STAGES, Pace(), active, 0.0).seconds for active in (False, True)] == [20.0, 0.0]


def test_an_unknown_part_makes_the_whole_unknown() -> None:
    assert eta([node(READ), node(WRITE, seconds=None)], STAGES, Pace(), False, 0.0) == Eta(None, is_rough=True)
