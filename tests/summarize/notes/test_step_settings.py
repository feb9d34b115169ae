"""What the steps of a plan do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stepgrid.model.plan import Axis, PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plan.difference import Link
from stepgrid.summarize.notes.step_settings import StepSettings, brief, sentences, step_settings, table
from tests.summarize import made

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
    told = {"kind": kind}
    return step_settings(
        [made.cell({"arm": label}, label) for label in labels],
        (Axis("arm", tuple(labels)),),
        lambda chain: _links(read={**told, "settings": settings[int(chain[0])]}),
    )


def test_settings_that_are_as_usual_are_left_out() -> None:
    found = _found("db_bench", {"duration": 60.0, "threads": 1, "reads": None, "keys": 100})
    said = "benchmarks [readrandom, stats]; duration 60 s; keys 100"
    assert [replace(each, meaning=()) for each in found] == [StepSettings("read", "db_bench", said)]


def test_a_setting_that_an_axis_changes_has_all_values_also_the_usual_one() -> None:
    (found,) = _found("db_bench", {"threads": 1, "keys": 5}, {"threads": 4, "keys": 5}, {"threads": 8, "keys": 5})
    assert found.said == "benchmarks [readrandom, stats]; threads 1 or 4 or 8; keys 5"


def test_of_many_values_the_first_are_named() -> None:
    (found,) = _found("db_bench", *({"keys": 10 * count} for count in (1, 2, 3, 4, 5)))
    assert found.said == "benchmarks [readrandom, stats]; keys 10 or 20 or 30 or 2 more"


def test_of_a_kind_that_is_not_installed_all_settings_are_said() -> None:
    (found,) = _found("my_benchmark", {"speed": 3})
    assert found == StepSettings("read", "my_benchmark", "benchmarks [readrandom, stats]; fresh false; speed 3")
    assert [cell.text for cell in table([found], {}).rows[0]][:2] == ["read", "my_benchmark"]


def test_settings_have_their_units_and_what_they_mean_stands_once() -> None:
    found = _found("db_bench", {"duration": 5.0, "write_rate": 2 * 2**20, "keys": 100})
    rates, *_, means = sentences([*found, *found], {})
    assert rates.endswith("duration 5 s; write_rate 2 MiB/s; keys 100")
    assert means.count("`duration`: how long a benchmark runs") == 1


def test_a_step_says_how_long_it_took_and_what_it_left() -> None:
    runs = [made.run("a", load, 9.0, seconds=3.0 + load, database_bytes=2.0**20) for load in (0, 1)]
    measured = {"read": (made.point(*runs),)}
    found = _found("my_benchmark", {})
    (said,) = sentences(found, measured)
    assert said.endswith("; a run took 3.00 s to 4.00 s; database after it 1 MiB")
    assert [cell.text for cell in table(found, measured).rows[0]][-2:] == ["3.00 s to 4.00 s", "1 MiB"]


def test_steps_in_brief_with_times_rates_and_size() -> None:
    size = {"database_bytes": 2.0**30}
    slow = made.point(*(made.run("a", load, 1000.0 + load, seconds=20.0, **size) for load in (1, 2, 3)))
    fast = made.point(*(made.run("b", load, 3000.0, seconds=21.0) for load in (1, 2, 3)))
    lacking = made.point(made.run("c", 1, 1.0)).of_loads(lambda load: False)
    assert brief({"readww": (slow, fast, lacking)}) == (
        "readww: 20.0 s to 21.0 s, 1,002 to 3,000 QPS; database of 1 GiB"
    )
    many = brief({f"step{number}": (fast,) for number in range(12)})
    assert many.endswith("; step9: 21.0 s, 3,000 QPS; 2 more below")
    assert brief({}) == brief({"readww": (lacking,)}) == ""
