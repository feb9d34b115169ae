"""The fast way with a library and a tree of the test's own; real ones are in specs/builds."""

from pathlib import Path
from typing import Any

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.model.plan import PlannedBuild
from tests.build.compilers import needs_cmake, needs_compiler, tree
from tests.build.ordering import order, recipe_of
from tests.engines.rocksdb.recipes.test_official_library import compiled


def made(folder: Path, **source: Any) -> BuiltPrograms:
    folder.mkdir()
    (folder.parent / "libgflags.a").write_bytes(b"!<arch>\n")
    declared = {"maven": "a:b:9.8.7", **source}
    recipe = {"flags": {"libraries": "system", "ldflags": f"-L{folder.parent}"}}
    found = recipe_of(PlannedBuild("b-0", "x", "rocksdb", "", declared, recipe=recipe))
    assert found is not None
    assert found.name == "library"
    material = Material(prefix=compiled(folder / "prefix", 1))
    return found.make(order(folder, declared, engine="rocksdb", recipe=recipe), material)


@needs_compiler
@needs_cmake
def test_the_library_stays_as_it_was_published_beside_its_program(tmp_path: Path):
    found = made(tmp_path / "build", tree={"path": str(tree(tmp_path / "tree"))})
    assert found.programs == {"db_bench": ("bin/db_bench",)}
    assert (found.quality["route"], found.quality["march"]) == ("library", "as published")
    assert found.quality["compressions"] == ["zstd"]
    assert found.facts["standard"] == "c++17"
    kept = sorted(str(path.relative_to(tmp_path / "build")) for path in (tmp_path / "build").rglob("*"))
    (library,) = [name for name in kept if name.startswith("lib/")]
    assert [name for name in kept if name != library] == ["bin", "bin/db_bench", "build.log", "lib", "tmp"]
    published = compiled(tmp_path / "again", 1) / Path(library).name
    assert (tmp_path / "build" / library).read_bytes() == published.read_bytes()


@needs_compiler
@needs_cmake
def test_a_tree_of_another_release(tmp_path: Path):
    other = tree(tmp_path / "tree")
    bench = other / "tools" / "db_bench.cc"
    bench.write_text(bench.read_text().replace('"2026/01/01 Comp', '"RocksDB version: 9.8.6\\n"\n"Comp'))
    with pytest.raises(BuildError) as error:
        made(tmp_path / "build", tree={"path": str(other)})
    assert str(error.value) == (
        "the library is of 9.8.6, the tree of 9.8.7: "
        "db_bench and its library must be of one release, so name another `tree:`"
    )


@needs_compiler
@needs_cmake
def test_without_a_tree(tmp_path: Path):
    with pytest.raises(BuildError) as error:
        made(tmp_path / "build")
    assert str(error.value) == (
        "db_bench is compiled from the tree of the library's release: the source needs a `tree:`"
    )
