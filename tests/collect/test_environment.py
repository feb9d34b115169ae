"""What steps ask for, and what they leave to their build."""

from stepgrid.collect.job import requested_options
from stepgrid.model.plan import Option, Options, PlannedStage, PlannedStep


def step(kind: str = "db_bench", **options: object) -> PlannedStep:
    asked = {name: Option(value) for name, value in options.items()}  # type: ignore[arg-type]
    return PlannedStep("x", kind, 1, {}, Options([asked]), 7)


def stage(build: str, *steps: PlannedStep) -> PlannedStage:
    return PlannedStage("s-1", "t", build, None, (), 0, 0, "h-1", steps, 1.0, 0)


def test_every_value_once_and_none_where_a_step_leaves_it_alone():
    stages = [
        stage("b-1", step(size=1, kind_of="lru"), step(size=2, kind_of="lru")),
        stage("b-1", step(size=1, kind_of="lru", bits=10)),
        stage("b-2", step(), step("command", size=3)),
    ]
    assert requested_options(stages) == {"b-1": {"size": [1, 2], "kind_of": ["lru"], "bits": [None, 10]}, "b-2": {}}
