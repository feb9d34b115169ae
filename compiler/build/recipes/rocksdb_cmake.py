"""RocksDB and its forks by cmake and ninja: the target db_bench, without tests and tools."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from compiler.build.order import Order
from compiler.build.recipes.protocol import Made
from compiler.build.recipes.rocksdb_compiled import Workshop, finish, takes, workshop
from compiler.build.sources.protocol import Material
from compiler.plan.model import Json, PlannedBuild

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
_CACHED = re.compile(r"^((?:WITH_|PORTABLE|CMAKE_BUILD_TYPE|USE_)\w*):\w+=(.*)$", re.MULTILINE)


class RocksDBCMake:
    name = "cmake"

    def takes(self, build: PlannedBuild) -> bool:
        return takes(build, self.name)

    def make(self, order: Order, material: Material) -> Made:
        shop = workshop(order, material, "cmake", "ninja")
        made = order.folder / "made"
        cmake, jobs = shop.tools["cmake"], order.jobs
        shop.run([cmake, *_arguments(shop, made)], order.folder, shop.flags.environment)
        shop.run([shop.tools["ninja"], f"-j{jobs}", f"-l{jobs + 1}", "db_bench"], made, shop.flags.environment)
        return finish(shop, self.name, _program(made), _configured(made))


def _arguments(shop: Workshop, made: Path) -> list[str]:
    flags, tools = shop.flags, shop.tools
    kind = flags.type or "Release"
    given = {
        **_OPTIONS,
        "CMAKE_BUILD_TYPE": kind,
        "CMAKE_MAKE_PROGRAM": tools["ninja"],
        "CMAKE_C_COMPILER": tools.cc,
        "CMAKE_CXX_COMPILER": tools.cxx,
        "CMAKE_C_FLAGS": shlex.join((*shop.code, *flags.cflags)),
        "CMAKE_CXX_FLAGS": shlex.join(shop.cxx_code),
        "CMAKE_EXE_LINKER_FLAGS": shlex.join(flags.ldflags),
        **({"CMAKE_PREFIX_PATH": str(shop.devel.folder)} if shop.devel.folder else {}),
        **({"PORTABLE": "1"} if flags.march else {}),  # else the tree adds -march=native beside it
        **({f"CMAKE_{each}_FLAGS_{kind.upper()}": "-O3" for each in ("C", "CXX")} if flags.assertions else {}),
        **flags.variables,
    }
    places = ["-S", str(shop.tree), "-B", str(made), "-G", "Ninja"]
    return [*places, *tools.cmake_launcher, *(f"-D{name}={value}" for name, value in given.items())]


def _program(made: Path) -> Path:
    """A fork gives its programs a suffix of their own."""
    found = [path for path in sorted(made.glob("db_bench*")) if path.is_file()]
    return found[0] if found else made / "db_bench"


def _configured(made: Path) -> dict[str, Json]:
    text = (made / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    return {"configured": dict(_CACHED.findall(text))}
