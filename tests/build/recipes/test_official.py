"""Libraries of a test's own, with a name or two of RocksDB's; db_bench is compiled against one of them."""

import subprocess
from pathlib import Path

import pytest

from compiler.build.flags import Flags
from compiler.build.problem import BuildError
from compiler.build.recipes.bench import compile_bench
from compiler.build.recipes.official import library, quality
from compiler.build.toolchain import find
from tests.build.compilers import needs_compiler, tree
from tests.build.ordering import order

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


def compiled(folder: Path, abi: int) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "x.cc").write_text(_CODE)
    made = ["-shared", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", str(folder / "x.cc")]
    subprocess.run(["c++", *made, "-o", str(folder / _NAMES[0])], check=True)
    (folder / _NAMES[1]).write_bytes((folder / _NAMES[0]).read_bytes())  # whichever this machine is
    return folder


@needs_compiler
@pytest.mark.parametrize("abi", [0, 1])
def test_what_a_library_was_made_for_is_in_its_names(tmp_path: Path, abi: int):
    found = library(compiled(tmp_path, abi))
    assert found.old_abi == (abi == 0)
    assert found.macros == ("LZ4",)
    assert not found.rtti


@needs_compiler
def test_its_quality(tmp_path: Path):
    found = quality(library(compiled(tmp_path, 1)).path)
    assert str(found["compiler"]).startswith("GCC ")
    assert (found["optimisation"], found["march"]) == ("as published", "as published")


def test_none_for_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "librocksdbjni-osx.so").touch()
    monkeypatch.setattr("platform.machine", lambda: "loongarch64")
    with pytest.raises(BuildError) as error:
        library(tmp_path)
    assert str(error.value) == ("the artifact has no library for loongarch64; its libraries are: librocksdbjni-osx.so")


@needs_compiler
def test_db_bench_is_compiled_in_the_abi_of_the_library_and_finds_it_anywhere(tmp_path: Path):
    placed = order(tmp_path / "build", {})
    official = library(compiled(placed.folder / "prefix", 1))
    (tmp_path / "libgflags.a").write_bytes(b"!<arch>\n")
    flags = Flags(libraries="system", ldflags=(f"-L{tmp_path}",))
    bench = compile_bench(placed, find(placed, flags), flags, tree(placed.folder / "tree"), official)
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
    official = library(compiled(placed.folder / "prefix", 1))
    flags = Flags(libraries="system", cxxflags=("-no-such-option",))
    with pytest.raises(BuildError) as error:
        compile_bench(placed, find(placed, flags), flags, tree(placed.folder / "tree"), official)
    assert str(error.value) == "tools/db_bench_tool.cc could not be compiled against librocksdbjni-linux64.so"
