"""A comparison says in how many runs the client used more CPU than its server."""

from __future__ import annotations

from stepgrid.model.metrics import CLIENT_CPU, SERVER_CPU
from stepgrid.summarize.data.client_cpu import is_heavier, marks
from tests.summarize.made import point, run


def test_a_comparison_counts_such_runs_on_both_sides() -> None:
    arm = point(run("x", 0, 1.0, **{CLIENT_CPU: 2.0, SERVER_CPU: 1.0}), run("x", 1, 1.0))
    base = point(run("y", 0, 1.0, **{CLIENT_CPU: 1.0, SERVER_CPU: 1.0}))
    assert list(marks(arm, base)) == ["the client used more CPU than its server in 1 of 2 runs, in 0 of 1 of the base"]
    assert list(marks(base, base)) == []


def test_what_is_not_known_is_not_said() -> None:
    assert not is_heavier(run("x", 0, 1.0, **{CLIENT_CPU: 2.0}))
    assert not is_heavier(run("x", 0, 1.0, **{SERVER_CPU: 2.0}))
