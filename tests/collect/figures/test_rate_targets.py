"""Whether a step sustained the rate that its clients were asked for."""

from __future__ import annotations

from stepgrid.collect.figures import rate_targets
from stepgrid.model.plan import Options, PlannedStep
from stepgrid.plugins.metrics import METRICS

RATE, TARGET = "inserts_per_s", "target_inserts_per_s"


def step(kind: str, **settings: object) -> PlannedStep:
    return PlannedStep("a", kind, 1, settings, Options([]), 7)


def test_from_95_percent_on_it_is_met() -> None:
    assert rate_targets.figures({RATE: 3799.6, TARGET: 4000}) == {"target_met": 1.0}
    assert rate_targets.figures({RATE: 3799.4, TARGET: 4000}) == {"target_met": 0.0}
    assert {RATE, TARGET, rate_targets.MET} <= METRICS.keys()


def test_without_a_target_or_a_rate_nothing_is_said() -> None:
    assert rate_targets.figures({RATE: 5.0}) == {}
    assert rate_targets.figures({TARGET: 5.0, "qps": 3.0}) == {}


def test_of_several_targets_all_are_to_be_met() -> None:
    assert rate_targets.figures({RATE: 10.0, TARGET: 10.0, "qps": 1.0, "target_qps": 2.0}) == {"target_met": 0.0}


def test_what_a_step_was_asked_for_is_among_its_settings() -> None:
    query = {"action": "query", "insert_rate": 1000, "clients": 4}
    assert rate_targets.asked(step("insert_benchmark", **query)) == {TARGET: 4000.0}
    assert rate_targets.asked(step("insert_benchmark", action="load", clients=4)) == {}
    assert rate_targets.asked(step("db_bench")) == {}
