"""MySQL, its forks and MariaDB by cmake and ninja: the server, its clients, and what they read."""

from __future__ import annotations

import re
from pathlib import Path

from stepgrid.build.compilation import cmake, pruning
from stepgrid.build.compilation.compiler_options import codegen
from stepgrid.build.compilation.source_build import PREFIX, RUN_PATH, Compile, installed, prepare, takes
from stepgrid.build.recipe import Made
from stepgrid.build.recipes.server_folders import places, started
from stepgrid.build.recipes.server_programs import PROGRAMS, find
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.engines.mysqld.cmake_options import HOME, OPTIONS, PACKAGES, boost
from stepgrid.model.plan import PlannedBuild

MARK = "sql/mysqld.cc"
_TOOLS = (*cmake.TOOLS, "bison", "pkg-config")
_CACHED = re.compile("WITH_|CMAKE_BUILD_TYPE|PLUGIN_ROCKSDB")
_KEPT = ("bin", "sbin", "lib", "lib64", "share")


class MySQLdCMake:
    name = "cmake"

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def takes(self, build: PlannedBuild) -> bool:
        return takes(build, self.engine, self.name)

    def make(self, order: Order, material: Material) -> Made:
        compiled = prepare(order, material, MARK, PACKAGES[self.engine], *_TOOLS)
        made, staging = order.folder / "made", order.folder / "staging"
        cmake.configure(compiled, made, _own(compiled, self.engine), {**compiled.search, **RUN_PATH})
        environment = {**compiled.devel.search(made), **RUN_PATH}
        compiled.run([compiled.tools["ninja"], *compiled.parallel], made, environment)
        compiled.run([compiled.tools["cmake"], "--install", str(made)], made, {"DESTDIR": str(staging)})
        return _finish(compiled, self.engine, made, staging / HOME.lstrip("/"))


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


def _finish(compiled: Compile, engine: str, made: Path, home: Path) -> Made:
    order = compiled.order
    server = find(home, engine, "the compiled tree")[PROGRAMS[engine].needed[0]]
    seen, configured = codegen(server), cmake.cached(made, _CACHED)
    prefix = installed(compiled, home, _KEPT)
    programs = find(prefix, engine, "the compiled tree")
    pruning.prune(order.folder, (PREFIX,))
    told = places(order, programs[PROGRAMS[engine].needed[0]])
    return Made(
        {name: started(order, path, told.environment) for name, path in programs.items()},
        quality={"route": "source", **seen},
        artifacts=compiled.devel.artifacts,
        facts={**compiled.tools.facts(), **configured, **told.facts, "system": "cmake"},
    )
