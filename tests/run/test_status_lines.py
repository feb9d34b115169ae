"""Lines about the status of a plan, and the live figures of its running step."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.model.plan import Plan, Report
from stepgrid.model.status import ActiveRun, ActiveWork, Eta, NodeStatus, PlanStatus, RunAhead, Status
from stepgrid.run.status_lines import (
    clock,
    eta_text,
    progress_line,
    queue_text,
)

NOW = 1_800_000_000.0
PLAN = Plan("p", "what is measured", "a.yaml", "smoke", (), (), (), (), {}, Report())


def working(waits: str = "") -> PlanStatus:
    work = ActiveWork((7,), waits=waits, since=NOW - 130, doing="starts")
    node = NodeStatus("s-1", "a title: read", Status.WAITING if waits else Status.RUNNING, work=work)
    return PlanStatus(PLAN, NOW, None, {"s-1": node}, Eta(70.0))


def test_waiting_for_another_run_is_told_from_measuring() -> None:
    waiting, measuring = working("the host: process 9"), working()
    assert eta_text(waiting) == "waiting for another run, 2m10s so far; then 1m10s of measuring"
    assert eta_text(measuring) == "1m10s"
    assert eta_text(replace(measuring, waited=9.9)) == "1m10s"
    waited = replace(measuring, waited=540.0)
    assert eta_text(waited) == "1m10s of measuring; waited 9m00s for the host"
    assert progress_line(waiting) == "[0/1 done] waiting for another run, 2m10s so far; then 1m10s of measuring"
    assert progress_line(measuring, 3) == "[0/1 done] 3 disturbed, ETA 1m10s | a title: read: starts"


def test_the_queue_of_a_checkout_counts() -> None:
    node = NodeStatus("s-1", "a title: read", Status.MISSING, seconds=70.0, times=1)
    first = RunAhead(12, "a.yaml", NOW - 320, Eta(98.0))
    second = RunAhead(15, "b.yaml", NOW - 60, Eta(60.0, True))
    run = ActiveRun(16, NOW - 130, "c.yaml", covers_plan=True, is_exact=True, ahead=(first, second))
    queued = PlanStatus(PLAN, NOW, run, {"s-1": node}, Eta(70.0))
    text = "waiting for another run, 2m10s so far, about 2m38s more; then 1m10s of measuring"
    assert eta_text(queued) == text
    assert eta_text(queued, with_end=True) == f"{text} ({clock(NOW + 98 + 60 + 70, NOW, False)})"
    assert progress_line(queued) == f"[0/1 done] {text}"
    unknown = replace(run, ahead=(replace(first, eta=Eta(None)), second))
    assert eta_text(replace(queued, run=unknown), with_end=True) == text.replace(", about 2m38s more", "")
    assert queue_text((first, second), NOW) == (
        f"pid 12, a.yaml, since {clock(NOW - 320, NOW)} (5m20s), ETA 1m38s ({clock(NOW + 98, NOW, False)}); "
        f"then pid 15, b.yaml, since {clock(NOW - 60, NOW)} (1m00s), ETA ~1m00s ({clock(NOW + 60, NOW, False)})"
    )
    assert queue_text((RunAhead(0, "", NOW, Eta(None)),), NOW) == "a process that cannot be seen from here"
