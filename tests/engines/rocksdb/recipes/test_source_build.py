"""Both ways of compiling, over the smallest tree; real ones are in specs/builds."""

from pathlib import Path
from typing import Any

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site
from tests.build.compilers import needs_cmake, needs_compiler, tree
from tests.build.ordering import order, recipe_of


def made(folder: Path, site: Site | None = None, **flags: str) -> BuiltPrograms:
    source = {"git": "https://example.org/x.git", "ref": "v1"}
    given: dict[str, Any] = {"engine": "rocksdb", "recipe": {"flags": {"libraries": "system", **flags}}}
    build = PlannedBuild("b-0", "x", "rocksdb", "", source, recipe=given["recipe"])
    recipe = recipe_of(build)
    assert recipe is not None
    placed = order(folder, source, site=site or Site(), **given)
    return recipe.make(placed, Material(tree=tree(folder / "tree")))


@needs_compiler
def test_by_make(tmp_path: Path):
    found = made(tmp_path, march="x86-64-v2", cxxflags="-O2 -DX='$(MONEY)'")
    assert found.programs == {"db_bench": ("bin/db_bench",)}
    assert found.quality["optimisation"] == "-O1"
    assert (found.quality["route"], found.quality["march"]) == ("source", "x86-64-v2")
    assert found.quality["compressions"] == ["zstd"]
    assert (found.facts["system"], found.facts["stripped"]) == ("make", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "build.log", "tmp"]
    assert str(tmp_path).encode() not in (tmp_path / "bin" / "db_bench").read_bytes()


@needs_compiler
def test_what_the_tree_found_on_the_machine_is_recorded(tmp_path: Path):
    assert made(tmp_path).facts["configured"] == {"CXXFLAGS": "-std=c++17 -frecord-gcc-switches"}


@needs_compiler
@needs_cmake
def test_by_cmake_under_a_forks_name_for_it(tmp_path: Path):
    found = made(tmp_path, system="cmake", WITH_LZ4="OFF")
    assert found.programs == {"db_bench": ("bin/db_bench",)}
    assert (found.quality["optimisation"], found.facts["system"]) == ("-O3", "cmake")
    configured = found.facts["configured"]
    assert isinstance(configured, dict)
    assert (configured["WITH_LZ4"], configured["CMAKE_BUILD_TYPE"]) == ("OFF", "Release")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "build.log", "tmp"]


@needs_compiler
def test_two_folders_give_one_binary(tmp_path: Path):
    for name in ("a", "b"):
        made(tmp_path / name)
    programs = [(tmp_path / name / "bin" / "db_bench").read_bytes() for name in ("a", "b")]
    assert programs[0] == programs[1]


@needs_compiler
def test_a_compile_that_fails(tmp_path: Path):
    with pytest.raises(BuildError) as error:
        made(tmp_path, cxxflags="-no-such-option")
    assert str(error.value) == "make failed; the end of the log says where"
    assert "-no-such-option" in (tmp_path / "build.log").read_text()


def test_a_missing_compiler_is_said_before_anything_is_fetched(tmp_path: Path):
    with pytest.raises(BuildError, match=r"^there is no program no-such-c\+\+, which this build needs: install it"):
        made(tmp_path, Site(tools={"cc": "true", "c++": "no-such-c++"}))


@needs_compiler
def test_an_inherited_flag_does_not_reach_a_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CXXFLAGS", "-no-such-option")
    monkeypatch.setenv("MAKEFLAGS", "-n")
    assert made(tmp_path).programs
