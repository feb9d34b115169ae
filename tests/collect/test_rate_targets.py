"""Rates that a step asks of its clients."""

from __future__ import annotations

from stepgrid.collect import step_figures
from stepgrid.model.plan import Options, PlannedStep

TARGET = "target_inserts_per_s"


def step(kind: str, **settings: object) -> PlannedStep:
    return PlannedStep("a", kind, 1, settings, Options([]), 7)


def test_what_a_step_was_asked_for_is_among_its_settings() -> None:
    query = {"action": "query", "insert_rate": 1000, "clients": 4}
    assert step_figures.rate_targets(step("insert_benchmark", **query)) == {TARGET: 4000.0}
    assert step_figures.rate_targets(step("insert_benchmark", action="load", clients=4)) == {}
    assert step_figures.rate_targets(step("db_bench")) == {}
