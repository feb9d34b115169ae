"""Builds of the smallest tree, and against a library of a test's own; real ones are in specs/builds."""

import subprocess
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material
from stepgrid.language.flags import Flags
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site
from stepgrid_databases.engines.recipes import rocksdb
from stepgrid_databases.engines.recipes.compilation import Compile, Development, find_toolchain
from stepgrid_databases.engines.recipes.rocksdb import compile_bench, find_library
from tests.build.compilers import needs_cmake, needs_compiler
from tests.build.compilers import tree as small_tree
from tests.build.ordering import order, recipe_of


def test_a_tree_without_db_bench(tmp_path):
    (small_tree(tmp_path) / "tools" / "db_bench.cc").unlink()
    with pytest.raises(BuildError) as error:
        rocksdb.bench_sources(tmp_path)
    assert str(error.value) == "the source tree lacks tools/db_bench.cc"


def compile_tree(folder, site=None, **flags):
    source = {"git": "https://example.org/x.git", "ref": "v1"}
    given = {"engine": "rocksdb", "recipe": {"flags": {"libraries": "system", **flags}}}
    build = PlannedBuild("b-0", "x", "rocksdb", "", source, recipe=given["recipe"])
    recipe = recipe_of(build)
    assert recipe is not None
    placed = order(folder, source, site=site or Site(), **given)
    return recipe.make(placed, Material(tree=small_tree(folder / "tree")))


@needs_compiler
def test_by_make(tmp_path):
    found = compile_tree(tmp_path, march="x86-64-v2", cxxflags="-O2 -DX='$(MONEY)'")
    assert found.programs == {"db_bench": ("bin/db_bench",)}
    assert found.quality["optimisation"] == "-O1"
    assert (found.quality["route"], found.quality["march"]) == ("source", "x86-64-v2")
    assert found.quality["compressions"] == ["zstd"]
    assert (found.facts["system"], found.facts["stripped"]) == ("make", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "build.log", "tmp"]
    assert str(tmp_path).encode() not in (tmp_path / "bin" / "db_bench").read_bytes()


@needs_compiler
@needs_cmake
def test_by_cmake_under_a_forks_name_for_it(tmp_path):
    found = compile_tree(tmp_path, system="cmake", WITH_LZ4="OFF")
    assert found.programs == {"db_bench": ("bin/db_bench",)}
    assert (found.quality["optimisation"], found.facts["system"]) == ("-O3", "cmake")
    configured = found.facts["configured"]
    assert isinstance(configured, dict)
    assert (configured["WITH_LZ4"], configured["CMAKE_BUILD_TYPE"]) == ("OFF", "Release")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "build.log", "tmp"]


@needs_compiler
def test_two_folders_give_one_binary(tmp_path):
    for name in ("a", "b"):
        compile_tree(tmp_path / name)
    programs = [(tmp_path / name / "bin" / "db_bench").read_bytes() for name in ("a", "b")]
    assert programs[0] == programs[1]


@needs_compiler
def test_a_compile_that_fails(tmp_path):
    with pytest.raises(BuildError) as error:
        compile_tree(tmp_path, cxxflags="-no-such-option")
    assert str(error.value) == "make failed; the end of the log says where"
    assert "-no-such-option" in (tmp_path / "build.log").read_text()


def test_a_missing_compiler_is_said_before_anything_is_fetched(tmp_path):
    with pytest.raises(BuildError, match=r"^there is no program no-such-c\+\+, which this build needs: install it"):
        compile_tree(tmp_path, Site(tools={"cc": "true", "c++": "no-such-c++"}))


@needs_compiler
def test_an_inherited_flag_does_not_reach_a_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("CXXFLAGS", "-no-such-option")
    monkeypatch.setenv("MAKEFLAGS", "-n")
    assert compile_tree(tmp_path).programs


_CODE = """
#include <string>
namespace rocksdb {
struct Options {};
struct DB { static void Open(const Options&, const std::string&, DB**); };
void DB::Open(const Options&, const std::string&, DB**) {}
}
extern "C" int LZ4_compress_default() { return 0; }
"""
_NAMES = ("librocksdbjni-linux64.so", "librocksdbjni-linux-aarch64.so")


def compile_library(folder, abi):
    folder.mkdir(exist_ok=True)
    (folder / "x.cc").write_text(_CODE)
    made = ["-shared", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", str(folder / "x.cc")]
    subprocess.run(["c++", *made, "-o", str(folder / _NAMES[0])], check=True)
    (folder / _NAMES[1]).write_bytes((folder / _NAMES[0]).read_bytes())  # whichever this machine is
    return folder


@needs_compiler
@pytest.mark.parametrize("abi", [0, 1])
def test_what_a_library_was_made_for_is_in_its_names(tmp_path, abi):
    found = find_library(compile_library(tmp_path, abi))
    assert found.old_abi == (abi == 0)
    assert found.macros == ("LZ4",)
    assert not found.rtti


def trial(placed, flags):
    return Compile(placed, small_tree(placed.folder / "tree"), flags, find_toolchain(placed, flags), Development(None))


@needs_compiler
def test_db_bench_is_compiled_in_the_abi_of_the_library_and_finds_it_anywhere(tmp_path):
    placed = order(tmp_path / "build", {})
    official = find_library(compile_library(placed.folder / "prefix", 1))
    (tmp_path / "libgflags.a").write_bytes(b"!<arch>\n")
    flags = Flags(libraries="system", ldflags=(f"-L{tmp_path}",))
    bench = compile_bench(trial(placed, flags), official)
    assert bench.standard == "c++17"
    assert bench.artifacts == ()
    log = (placed.folder / "build.log").read_text()
    assert " -std=c++17 -frecord-gcc-switches " in log
    assert " -O2 -w -DNDEBUG -fno-rtti -DROCKSDB_PLATFORM_POSIX " in log
    assert " -DLZ4 -I. -Iinclude -c tools/db_bench_tool.cc " in log
    assert "_GLIBCXX_USE_CXX11_ABI" not in log
    assert b"$ORIGIN/../lib\0" in bench.program.read_bytes()


def compile_against(folder, tree=None):
    folder.mkdir()
    (folder.parent / "libgflags.a").write_bytes(b"!<arch>\n")
    declared = {"maven": "a:b:9.8.7"}
    recipe = {"flags": {"libraries": "system", "ldflags": f"-L{folder.parent}"}}
    found = recipe_of(PlannedBuild("b-0", "x", "rocksdb", "", declared, recipe=recipe))
    assert found.name == "library"
    material = Material(tree=tree, prefix=compile_library(folder / "prefix", 1))
    return found.make(order(folder, declared, engine="rocksdb", recipe=recipe), material)


@needs_compiler
@needs_cmake
def test_the_library_stays_as_it_was_published_beside_its_program(tmp_path):
    found = compile_against(tmp_path / "build", small_tree(tmp_path / "tree"))
    assert found.programs == {"db_bench": ("bin/db_bench",)}
    assert (found.quality["route"], found.quality["march"]) == ("library", "as published")
    assert found.quality["compressions"] == ["zstd"]
    assert found.facts["standard"] == "c++17"
    kept = sorted(str(path.relative_to(tmp_path / "build")) for path in (tmp_path / "build").rglob("*"))
    (library,) = [name for name in kept if name.startswith("lib/")]
    assert [name for name in kept if name != library] == ["bin", "bin/db_bench", "build.log", "lib", "tmp"]
    published = compile_library(tmp_path / "again", 1) / Path(library).name
    assert (tmp_path / "build" / library).read_bytes() == published.read_bytes()


@needs_compiler
@needs_cmake
def test_a_tree_of_another_release(tmp_path):
    other = small_tree(tmp_path / "tree")
    bench = other / "tools" / "db_bench.cc"
    bench.write_text(bench.read_text().replace('"2026/01/01 Comp', '"RocksDB version: 9.8.6\\n"\n"Comp'))
    with pytest.raises(BuildError) as error:
        compile_against(tmp_path / "build", other)
    assert str(error.value) == (
        "the library is of 9.8.6, the tree of 9.8.7: "
        "db_bench and its library must be of one release, so name another `tree:`"
    )


@needs_compiler
@needs_cmake
def test_without_a_tree(tmp_path):
    with pytest.raises(BuildError) as error:
        compile_against(tmp_path / "build")
    assert str(error.value) == (
        "db_bench is compiled from the tree of the library's release: the source needs a `tree:`"
    )
