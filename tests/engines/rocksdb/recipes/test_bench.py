"""db_bench of the smallest tree, against a library of a test's own."""

from pathlib import Path

import pytest

from stepgrid.build.compilation.development_packages import Development
from stepgrid.build.compilation.source_build import Compile
from stepgrid.build.compilation.toolchain import find
from stepgrid.build.error import BuildError
from stepgrid.build.task import Order
from stepgrid.engines.rocksdb.recipes.bench import compile_bench
from stepgrid.engines.rocksdb.recipes.official_library import library
from stepgrid.language.builds.flags import Flags
from tests.build.compilers import needs_compiler, tree
from tests.build.ordering import order
from tests.engines.rocksdb.recipes.test_official_library import compiled as published


def trial(placed: Order, flags: Flags) -> Compile:
    return Compile(placed, tree(placed.folder / "tree"), flags, find(placed, flags), Development(None))


@needs_compiler
def test_db_bench_is_compiled_in_the_abi_of_the_library_and_finds_it_anywhere(tmp_path: Path):
    placed = order(tmp_path / "build", {})
    official = library(published(placed.folder / "prefix", 1))
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


@needs_compiler
def test_a_tree_that_does_not_compile_against_it(tmp_path: Path):
    placed = order(tmp_path / "build", {})
    official = library(published(placed.folder / "prefix", 1))
    flags = Flags(libraries="system", cxxflags=("-no-such-option",))
    with pytest.raises(BuildError) as error:
        compile_bench(trial(placed, flags), official)
    assert str(error.value) == "tools/db_bench_tool.cc could not be compiled against librocksdbjni-linux64.so"
