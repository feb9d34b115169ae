"""The spec of every way to a db_bench: each scale of it compiles, and nothing is found about it."""

from pathlib import Path

import pytest

from bench import overhead_run, verdicts_real
from stepgrid.language.problems import Problems
from stepgrid.plan.assembly import compile_spec
from stepgrid.workflow.run_request import unsupported_recipes
from tests.build.ordering import recipe_of
from tests.specs.conftest import HOST

SPEC = Path(__file__).resolve().parents[2] / "specs" / "builds" / "rocksdb.yaml"


def compiled(scale):
    problems = Problems()
    plan = compile_spec(str(SPEC), scale, HOST, problems=problems)
    assert [problem for problem in problems.warnings if not problem.code.startswith("lock")] == []
    return plan


@pytest.mark.parametrize(("scale", "builds"), [(None, 20), ("library", 13), ("debian", 4), ("source", 3), ("small", 1)])
def test_each_scale(scale, builds):
    assert len(compiled(scale).builds) == builds


BUILDS = Path(__file__).resolve().parents[2] / "specs" / "builds"


def planned(name):
    problems = Problems()
    plan = compile_spec(str(BUILDS / name), None, HOST, problems=problems)
    assert [problem for problem in problems.warnings if not problem.code.startswith("lock")] == []
    assert {stage.build for stage in plan.stages} == {build.id for build in plan.builds}
    assert unsupported_recipes(plan.builds) == []
    return plan


def test_those_that_are_compiled():
    found = {build.name: recipe_of(build) for build in planned("servers-source.yaml").builds}
    assert {name: recipe and recipe.name for name, recipe in found.items()} == {
        "configure": "configure",
        "meson": "meson",
        "sysbench": "configure",
    }


LIBRARY = Path(__file__).resolve().parents[2] / "specs/library"
SPECS = {
    "overhead": overhead_run.SPEC.format(library=LIBRARY, keys=1000, seconds=1),
    "verdicts": verdicts_real.spec(arms=2, loads=3, seconds=1),
}


@pytest.mark.parametrize("name", SPECS)
def test_it_compiles(name, tmp_path):
    spec = tmp_path / f"{name}.yaml"
    spec.write_text(SPECS[name])
    assert compile_spec(str(spec), None, HOST).stages
