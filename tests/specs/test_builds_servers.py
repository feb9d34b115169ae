"""The spec of every server that is built in seconds: it compiles, and nothing is found about it."""

from pathlib import Path

from compiler.build.recipes import recipe_of
from compiler.build.recipes.server_prefix import ServerPrefix
from compiler.drivers.refusals import of_builds
from compiler.language.problem import Problems
from compiler.plan.compile import compile_spec
from tests.specs.conftest import HOST

SPEC = Path(__file__).resolve().parents[2] / "specs" / "builds" / "servers.yaml"


def test_every_build_has_a_step_and_can_be_made():
    problems = Problems()
    plan = compile_spec(str(SPEC), None, HOST, problems=problems)
    assert [problem for problem in problems.warnings if not problem.code.startswith("lock")] == []
    assert {stage.build for stage in plan.stages} == {build.id for build in plan.builds}
    assert of_builds(plan.builds) == []
    assert all(isinstance(recipe_of(build), ServerPrefix) for build in plan.builds)
    assert sorted(build.name for build in plan.builds) == [
        "mariadb-10.11",
        "mariadb-10.5",
        "mariadb-11.8",
        "mysql-5.7",
        "mysql-8.0",
        "mysql-9",
        "pgvector-17",
        "pgvector-18",
        "postgres-12.22",
        "postgres-15.19",
        "postgres-17.11",
        "postgres-18.6",
        "sysbench",
    ]
