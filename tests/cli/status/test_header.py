"""The first lines about a plan, of a look that was put together by hand."""

from __future__ import annotations

import pytest

from stepgrid.cli.status import header, screen
from stepgrid.cli.status.colours import Paint
from stepgrid.model import status as model
from stepgrid.model.plan import Plan, Report
from stepgrid.model.status import Node, Run, Status
from stepgrid.store.status.eta import _is_ahead

NOW = 1_800_000_000.0
PLAN = Plan("p", "what is measured", "a.yaml", "smoke", (), (), (), (), {}, Report())


def status(*states: model.State, run: Run | None = None, left: float | None = 0.0, about: bool = False) -> Status:
    nodes = [Node(f"s-{number}", "stage", "t", state) for number, state in enumerate(states)]
    return Status(PLAN, NOW, run, nodes, left, about)


def lines(found: Status) -> list[str]:
    return list(header.lines(found, 100, Paint()))


@pytest.mark.parametrize(("given", "named"), [("6h", " (6h)"), ("07:30", "")])
def test_until_when_a_run_begins_stages(given: str, named: str) -> None:
    run = Run(7, None, "a.yaml", given, NOW + 60, own=True, exact=True)
    (said,) = (line for line in lines(status(model.LEFT, run=run)) if line.startswith("  until"))
    assert said.endswith(f"{named}: starts nothing that would end later")
    assert said.count("(") == len(named[:1])


def test_what_is_for_another_machine_is_not_counted_as_to_do() -> None:
    found = status(model.DONE, model.LEFT, model.ELSEWHERE)
    assert header.title(found) == "a.yaml (smoke): what is measured"
    assert header.stages(found, Paint()) == "1/2 done, 1 elsewhere, 1 left"


@pytest.mark.parametrize(
    ("left", "about", "said"), [(None, False, "?"), (0.0, True, "0s"), (0.4, False, "0s"), (90.0, True, "~1m30s")]
)
def test_how_long_it_takes(left: float | None, about: bool, said: str) -> None:
    assert header.eta(status(left=left, about=about)).partition(" (")[0] == said


@pytest.mark.parametrize(
    ("state", "without_a_run", "in_a_run"),
    [
        (model.LEFT, True, True),
        (model.RUNNING, True, True),
        (model.FAILED, True, False),
        (model.BLOCKED, True, False),
        (model.DONE, False, False),
        (model.UNSUPPORTED, False, False),
    ],
)
def test_the_next_run_tries_again_what_failed(state: model.State, without_a_run: bool, in_a_run: bool) -> None:
    node = Node("s-1", "stage", "t", state)
    assert (_is_ahead(node, active=False), _is_ahead(node, active=True)) == (without_a_run, in_a_run)


@pytest.mark.parametrize(
    ("state", "seconds", "said"),
    [(model.DONE, 90.0, "done in 1m30s"), (model.DONE, None, "done"), (model.FAILED, 90.0, "failed")],
)
def test_what_became_of_a_stage(state: model.State, seconds: float | None, said: str) -> None:
    assert screen.outcome(Node("s-1", "stage", "t", state, seconds=seconds)) == said
