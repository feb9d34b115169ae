"""MySQL, its forks and MariaDB by cmake and ninja: the server, its clients, and what they read."""

from __future__ import annotations

import re
from pathlib import Path

from stepgrid.build.compilation import cmake, pruning
from stepgrid.build.compilation.compiler_options import codegen
from stepgrid.build.compilation.source_build import PREFIX, RUN_PATH, Compile, SourceRecipe, installed, prepare
from stepgrid.build.compilation.toolchain import COMPILERS
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.recipes.server_programs import find, startable
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.engines.mysqld.cmake_options import HOME, OPTIONS, PACKAGES, boost

MARK = "sql/mysqld.cc"
_CACHED = re.compile("WITH_|CMAKE_BUILD_TYPE|PLUGIN_ROCKSDB")
_KEPT = ("bin", "sbin", "lib", "lib64", "share")


class MySQLdCMake(SourceRecipe):
    name, tools = "cmake", (*COMPILERS, *cmake.TOOLS, "bison", "pkg-config")

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, MARK, PACKAGES[self.engine], *self.tools)
        made, staging = order.folder / "made", order.folder / "staging"
        cmake.configure(compiled, made, _own(compiled, self.engine), {**compiled.search, **RUN_PATH})
        environment = {**compiled.devel.search(made), **RUN_PATH}
        compiled.run([compiled.tools["ninja"], *compiled.parallel], made, environment)
        compiled.run([compiled.tools["cmake"], "--install", str(made)], made, {"DESTDIR": str(staging)})
        return _finish(compiled, made, staging / HOME.lstrip("/"))


def _own(compiled: Compile, engine: str) -> dict[str, str]:
    devel = compiled.devel.folder
    return {
        **OPTIONS[engine],
        "CMAKE_INSTALL_PREFIX": HOME,
        "WITH_SSL": "system" if devel is None or engine == "mariadb" else str(devel),
        **({"OPENSSL_ROOT_DIR": str(devel)} if devel else {}),
        **({"WITH_DEBUG": "ON"} if compiled.flags.assertions else {}),
        **boost(compiled.tree, compiled.flags.variables),
    }


def _finish(compiled: Compile, made: Path, home: Path) -> BuiltPrograms:
    order, engine = compiled.order, compiled.order.engine
    server = find(home, engine, "the compiled tree")[engine.programs[0]]
    seen, configured = codegen(server), cmake.cached(made, _CACHED)
    prefix = installed(compiled, home, _KEPT)
    programs = find(prefix, engine, "the compiled tree")
    pruning.prune(order.folder, (PREFIX,))
    ready = startable(order, programs)
    return BuiltPrograms(
        ready.programs,
        quality={"route": "source", **seen},
        artifacts=compiled.devel.artifacts,
        facts={**compiled.tools.facts(), **configured, **ready.facts, "system": "cmake"},
    )
