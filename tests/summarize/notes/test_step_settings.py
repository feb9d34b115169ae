"""What the steps of a plan do."""

from __future__ import annotations

from typing import Any

from stepgrid.model.plan import Axis, PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plan.difference.stage_difference import Link
from stepgrid.summarize.notes.step_settings import StepSettings, step_settings, table

READ = {"benchmarks": ["readrandom", "stats"], "duration": None, "fresh": False}


def _links(**steps: dict[str, Any]) -> list[Link]:
    planned = tuple(
        PlannedStep(name, said.get("kind", "db_bench"), 1, {**READ, **said["settings"]}, {}, 7)
        for name, said in steps.items()
    )
    stage = PlannedStage("s", "s", "b-b", None, (), 0, 0, "h-1", planned, 8, 0)
    return [Link.of(stage, lambda node: PlannedBuild(node, "b", "rocksdb", "1", {}))]


def _found(kind: str, *settings: dict[str, Any]) -> list[StepSettings]:
    labels = [str(index) for index in range(len(settings))]
    cells = [{"id": each, "labels": {"arm": each}, "repeats": [{"stages": [each]}]} for each in labels]
    told = {"kind": kind}
    return step_settings(
        {"cells": cells},
        (Axis("arm", tuple(labels)),),
        lambda chain: _links(read={**told, "settings": settings[int(chain[0])]}),
    )


def test_settings_that_are_as_usual_are_left_out() -> None:
    found = _found("db_bench", {"duration": 60.0, "threads": 1, "reads": None, "keys": 100})
    assert found == [StepSettings("read", "db_bench", "benchmarks [readrandom, stats]; duration 60; keys 100")]


def test_a_setting_that_an_axis_changes_has_all_values_also_the_usual_one() -> None:
    (found,) = _found("db_bench", {"threads": 1, "keys": 5}, {"threads": 4, "keys": 5}, {"threads": 8, "keys": 5})
    assert found.said == "benchmarks [readrandom, stats]; threads 1 or 4 or 8; keys 5"


def test_of_many_values_the_first_are_named() -> None:
    (found,) = _found("db_bench", *({"keys": 10 * count} for count in (1, 2, 3, 4, 5)))
    assert found.said == "benchmarks [readrandom, stats]; keys 10 or 20 or 30 or 2 more"


def test_of_a_kind_that_is_not_installed_all_settings_are_said() -> None:
    (found,) = _found("my_benchmark", {"speed": 3})
    assert found == StepSettings("read", "my_benchmark", "benchmarks [readrandom, stats]; fresh false; speed 3")
    assert [cell.text for cell in table([found]).rows[0]][:2] == ["read", "my_benchmark"]
