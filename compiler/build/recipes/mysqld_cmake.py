"""MySQL, its forks and MariaDB by cmake and ninja: the server, its clients, and what they read."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from compiler.build import launcher, slim
from compiler.build.codegen import codegen
from compiler.build.order import Order
from compiler.build.recipes.compiled import PREFIX, RUN_PATH, Compile, installed, prepare, takes
from compiler.build.recipes.mysql_boost import boost
from compiler.build.recipes.mysqld_options import HOME, OPTIONS, PACKAGES
from compiler.build.recipes.protocol import Made
from compiler.build.recipes.server_places import places
from compiler.build.recipes.server_programs import PROGRAMS, find
from compiler.build.sources.protocol import Material
from compiler.plan.model import Json, PlannedBuild

MARK = "sql/mysqld.cc"
_TOOLS = ("cmake", "ninja", "bison", "pkg-config")
_CACHED = re.compile(r"^((?:WITH_|CMAKE_BUILD_TYPE|PLUGIN_ROCKSDB)\w*):\w+=(.*)$", re.MULTILINE)
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
        configure(compiled, self.engine, made)
        environment = {**compiled.devel.search(made), **RUN_PATH}
        compiled.run([compiled.tools["ninja"], *compiled.parallel], made, environment)
        compiled.run([compiled.tools["cmake"], "--install", str(made)], made, {"DESTDIR": str(staging)})
        return _finish(compiled, self.engine, made, staging / HOME.lstrip("/"))


def configure(compiled: Compile, engine: str, made: Path) -> None:
    made.mkdir()
    places = ["-S", str(compiled.tree), "-B", str(made), "-G", "Ninja"]
    argv = [compiled.tools["cmake"], *places, *compiled.tools.cmake_launcher, *_arguments(compiled, engine)]
    compiled.run(argv, made, {**_search(compiled), **RUN_PATH})


def _search(compiled: Compile) -> dict[str, str]:
    """Absolute: cmake tries what it looks for in folders of its own."""
    folder = compiled.devel.folder
    return {"CPATH": f"{folder}/include", "LIBRARY_PATH": f"{folder}/lib"} if folder else {}


def _arguments(compiled: Compile, engine: str) -> list[str]:
    flags, tools, devel = compiled.flags, compiled.tools, compiled.devel.folder
    given = {
        **OPTIONS[engine],
        "CMAKE_BUILD_TYPE": flags.type or "Release",
        "CMAKE_INSTALL_PREFIX": HOME,
        "CMAKE_MAKE_PROGRAM": tools["ninja"],
        "CMAKE_C_COMPILER": tools.cc,
        "CMAKE_CXX_COMPILER": tools.cxx,
        "CMAKE_C_FLAGS": shlex.join((*compiled.code, *flags.cflags)),
        "CMAKE_CXX_FLAGS": shlex.join((*compiled.code, *flags.cxxflags)),
        "CMAKE_EXE_LINKER_FLAGS": shlex.join(flags.ldflags),
        "WITH_SSL": "system" if devel is None or engine == "mariadb" else str(devel),
        **({"CMAKE_PREFIX_PATH": str(devel), "OPENSSL_ROOT_DIR": str(devel)} if devel else {}),
        **({"WITH_DEBUG": "ON"} if flags.assertions else {}),
        **boost(compiled.tree, flags.variables),
        **flags.variables,
    }
    return [f"-D{name}={value}" for name, value in given.items()]


def _finish(compiled: Compile, engine: str, made: Path, home: Path) -> Made:
    order = compiled.order
    server = find(home, engine, "the compiled tree")[PROGRAMS[engine].needed[0]]
    seen, configured = codegen(server), _configured(made)
    prefix = installed(compiled, home, _KEPT)
    programs = find(prefix, engine, "the compiled tree")
    slim.prune(order.folder, (PREFIX,))
    told = places(order, programs[PROGRAMS[engine].needed[0]])
    return Made(
        {name: _start(order, path, told.environment) for name, path in programs.items()},
        quality={"route": "source", **seen},
        artifacts=compiled.devel.artifacts,
        facts={**compiled.tools.facts(), **configured, **told.facts, "system": "cmake"},
    )


def _start(order: Order, program: Path, environment: dict[str, str]) -> tuple[str, ...]:
    real = launcher.aside(program)
    return launcher.write(program, order.folder, (str(real.relative_to(order.folder)),), environment)


def _configured(made: Path) -> dict[str, Json]:
    text = (made / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    return {"configured": dict(_CACHED.findall(text))}
