"""The spec of every way to a db_bench: each scale of it compiles, and nothing is found about it."""

from pathlib import Path
from typing import Any

import pytest

from stepgrid.language.problems import Problems
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.plan.compilation import compile_spec
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
