"""RocksDB and its forks by cmake and ninja: the target db_bench, without tests and tools."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from stepgrid.build.compilation import cmake
from stepgrid.build.compilation.source_build import Compile, SourceRecipe, prepare
from stepgrid.build.compilation.toolchain import COMPILERS
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.engines.rocksdb.recipes import source_tree
from stepgrid.engines.rocksdb.recipes.source_build import PACKAGES, cxx_code, finish

_COMPRESSIONS = ("SNAPPY", "LZ4", "ZSTD", "ZLIB", "BZ2")
_OPTIONS = {
    "WITH_GFLAGS": "ON",
    **{f"WITH_{name}": "ON" for name in _COMPRESSIONS},
    "WITH_TESTS": "OFF",
    "WITH_ALL_TESTS": "OFF",
    "WITH_TOOLS": "OFF",
    "WITH_CORE_TOOLS": "OFF",
    "WITH_TRACE_TOOLS": "OFF",
    "WITH_BENCHMARK_TOOLS": "ON",
    "WITH_LIBURING": "OFF",
    "ROCKSDB_BUILD_SHARED": "OFF",
    "FAIL_ON_WARNINGS": "OFF",
}
_CACHED = re.compile("WITH_|PORTABLE|CMAKE_BUILD_TYPE|USE_")


class RocksDBCMake(SourceRecipe):
    name, tools = "cmake", (*COMPILERS, *cmake.TOOLS)

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, source_tree.MARK, PACKAGES, *self.tools)
        made = order.folder / "made"
        cmake.configure(compiled, made, _own(compiled))
        compiled.run([compiled.tools["ninja"], *compiled.parallel, "db_bench"], made)
        return finish(compiled, self.name, _program(made), cmake.cached(made, _CACHED))


def _own(compiled: Compile) -> dict[str, str]:
    flags = compiled.flags
    optimised = f"FLAGS_{cmake.kind(compiled).upper()}"
    return {
        **_OPTIONS,
        "CMAKE_CXX_FLAGS": shlex.join(cxx_code(compiled)),
        **({"PORTABLE": "1"} if flags.march else {}),  # else the tree adds -march=native beside it
        **({f"CMAKE_{each}_{optimised}": "-O3" for each in ("C", "CXX")} if flags.assertions else {}),
    }


def _program(made: Path) -> Path:
    """A fork gives its programs a suffix of their own."""
    found = [path for path in sorted(made.glob("db_bench*")) if path.is_file()]
    return found[0] if found else made / "db_bench"
