"""The first lines about a plan, of a look that was put together by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.cli.status import Paint, counts_text, eta_text, header_lines
from stepgrid.model.plan import Plan, Report
from stepgrid.model.status import ActiveRun, Eta, NodeStatus, PlanStatus, Result, Status

NOW = 1_800_000_000.0
NOTHING = Eta(0.0)
PLAN = Plan("p", "what is measured", "a.yaml", "smoke", (), (), (), (), {}, Report())


def status(*words: Status, run: ActiveRun | None = None, eta: Eta = NOTHING) -> PlanStatus:
    nodes = {f"s-{number}": NodeStatus(f"s-{number}", "t", word) for number, word in enumerate(words)}
    return PlanStatus(PLAN, NOW, run, nodes, eta)


def lines(found: PlanStatus) -> list[str]:
    return list(header_lines(found, 100, Paint()))


@pytest.mark.parametrize(("given", "named"), [("6h", " (6h)"), ("07:30", "")])
def test_until_when_a_run_begins_stages(given: str, named: str) -> None:
    run = ActiveRun(7, None, "a.yaml", given, NOW + 60, covers_plan=True, is_exact=True)
    (said,) = (line for line in lines(status(Status.MISSING, run=run)) if line.startswith("  until"))
    assert said.endswith(f"{named}: starts nothing that would end later")
    assert said.count("(") == len(named[:1])


def test_what_is_for_another_machine_is_not_counted_as_to_do() -> None:
    found = status(Status.DONE, Status.MISSING, Status.ELSEWHERE)
    assert lines(found)[0] == "a.yaml (smoke): what is measured"
    assert counts_text(found, "stage", Paint()) == "1/2 done, 1 missing, 1 elsewhere"


@pytest.mark.parametrize(
    ("left", "about", "said"), [(None, False, "?"), (0.0, True, "0s"), (0.4, False, "0s"), (90.0, True, "~1m30s")]
)
def test_how_long_it_takes(left: float | None, about: bool, said: str) -> None:
    assert eta_text(status(eta=Eta(left, about))).partition(" (")[0] == said


@pytest.mark.parametrize(
    ("state", "seconds", "waited", "said"),
    [
        (Status.DONE, 90.0, 0.4, "done in 1m30s"),
        (Status.DONE, 31.0, 58.2, "done in 31s, after waiting 58s"),
        (Status.DONE, None, 0.0, "done"),
        (Status.FAILED, 90.0, 0.0, "failed"),
    ],
)
def test_what_became_of_a_stage(state: Status, seconds: float | None, waited: float, said: str) -> None:
    result = Result(Path("r"), seconds=seconds, waited=waited)
    node = NodeStatus("s-1", "t", state, seconds=seconds, result=result)
    assert f"{node.status}{node.time_taken}" == said
