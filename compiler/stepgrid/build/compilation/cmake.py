"""What builds by cmake and ninja have in common: what cmake is told of tools and flags, and what it made of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.compilation.source_build import Compile
from stepgrid.model.plan import Json

TOOLS = ("cmake", "ninja")


def kind(compiled: Compile) -> str:
    return compiled.flags.type or "Release"


def configure(
    compiled: Compile, made: Path, own: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> None:
    """`own`: the variables of the engine's recipe; those of the spec come last."""
    given = {**_common(compiled), **own, **compiled.flags.variables}
    places = ["-S", str(compiled.tree), "-B", str(made), "-G", "Ninja"]
    variables = (f"-D{name}={value}" for name, value in given.items())
    argv = [compiled.tools["cmake"], *places, *compiled.tools.cmake_launcher, *variables]
    compiled.run(argv, compiled.order.folder, environment)


def cached(made: Path, names: re.Pattern[str]) -> dict[str, Json]:
    """The variables that decide what was compiled, as they are in the end; `names`: of those that matter."""
    text = (made / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    found: list[tuple[str, str]] = re.findall(r"^(\w+):\w+=(.*)$", text, re.MULTILINE)
    return {"configured": {name: value for name, value in found if names.match(name)}}


def _common(compiled: Compile) -> dict[str, str]:
    flags, tools, devel = compiled.flags, compiled.tools, compiled.devel.folder
    return {
        "CMAKE_BUILD_TYPE": kind(compiled),
        "CMAKE_MAKE_PROGRAM": tools["ninja"],
        "CMAKE_C_COMPILER": tools.cc,
        "CMAKE_CXX_COMPILER": tools.cxx,
        "CMAKE_C_FLAGS": shlex.join((*compiled.code, *flags.cflags)),
        "CMAKE_CXX_FLAGS": shlex.join((*compiled.code, *flags.cxxflags)),
        "CMAKE_EXE_LINKER_FLAGS": shlex.join(flags.ldflags),
        **({"CMAKE_PREFIX_PATH": str(devel)} if devel else {}),
    }
