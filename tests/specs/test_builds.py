"""The spec of every way to a db_bench: each scale of it compiles, and nothing is found about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import overhead_run, verdicts_real
from stepgrid.build.ready_programs import ServerPrefix
from stepgrid.language.problems import Problems
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.plan.assembly import compile_spec
from stepgrid.workflow.run_request import unsupported_recipes
from tests.build.ordering import recipe_of
from tests.specs.conftest import HOST

SPEC = Path(__file__).resolve().parents[2] / "specs" / "builds" / "rocksdb.yaml"


def compiled(scale: str | None) -> Plan:
    problems = Problems()
    plan = compile_spec(str(SPEC), scale, HOST, problems=problems)
    assert [problem for problem in problems.warnings if not problem.code.startswith("lock")] == []
    return plan


def patches(build: PlannedBuild) -> list[tuple[str, str]]:
    listed: Any = build.recipe.get("patches", [])
    return [(patch["path"], patch["sha256"]) for patch in listed]


@pytest.mark.parametrize(("scale", "builds"), [(None, 20), ("library", 13), ("debian", 4), ("source", 3), ("small", 1)])
def test_each_scale(scale: str | None, builds: int):
    assert len(compiled(scale).builds) == builds


def test_the_patched_build_differs_by_its_patch_alone():
    builds = {build.name: build for build in compiled("source").builds}
    one, other = builds["source"], builds["slower"]
    assert one.id != other.id
    assert (one.source, one.recipe["flags"]) == (other.source, other.recipe["flags"])
    assert patches(one) == []
    assert [path for path, _ in patches(other)] == [str(SPEC.parent / "patches" / "rocksdb-slow-memtable.patch")]


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
        "mariadb-maven-10.11.5",
        "mariadb-maven-11.4.5",
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


LIBRARY = Path(__file__).resolve().parents[2] / "specs/library"
SPECS = {
    "overhead": overhead_run.SPEC.format(library=LIBRARY, keys=1000, seconds=1),
    "verdicts": verdicts_real.spec(arms=2, loads=3, seconds=1),
}


@pytest.mark.parametrize("name", SPECS)
def test_it_compiles(name: str, tmp_path: Path) -> None:
    spec = tmp_path / f"{name}.yaml"
    spec.write_text(SPECS[name])
    assert compile_spec(str(spec), None, HOST).stages
