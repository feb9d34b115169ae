"""The specs of the servers: they compile, and nothing is found about them."""

from pathlib import Path

from stepgrid.build.ready_programs import ServerPrefix
from stepgrid.language.problems import Problems
from stepgrid.model.plan import Plan
from stepgrid.plan.compilation import compile_spec
from stepgrid.workflow.run_request import unsupported_recipes
from tests.build.ordering import recipe_of
from tests.specs.conftest import HOST

BUILDS = Path(__file__).resolve().parents[2] / "specs" / "builds"


def planned(name: str) -> Plan:
    problems = Problems()
    plan = compile_spec(str(BUILDS / name), None, HOST, problems=problems)
    assert [problem for problem in problems.warnings if not problem.code.startswith("lock")] == []
    assert {stage.build for stage in plan.stages} == {build.id for build in plan.builds}
    assert unsupported_recipes(plan.builds) == []
    return plan


def test_those_that_are_compiled() -> None:
    found = {build.name: recipe_of(build) for build in planned("servers-source.yaml").builds}
    assert {name: recipe and recipe.name for name, recipe in found.items()} == {
        "configure": "configure",
        "meson": "meson",
        "sysbench": "configure",
    }


def test_those_that_take_seconds() -> None:
    plan = planned("servers.yaml")
    assert all(isinstance(recipe_of(build), ServerPrefix) for build in plan.builds)
    assert sorted(build.name for build in plan.builds) == [
        "mariadb-10.11",
        "mariadb-10.5",
        "mariadb-11.8",
        "mysql-5.7",
        "mysql-8.0",
        "mysql-9",
        "pgvector-16",
        "pgvector-17",
        "pgvector-18",
        "postgres-12.22",
        "postgres-15.19",
        "postgres-17.11",
        "postgres-18.6",
        "sysbench",
    ]
