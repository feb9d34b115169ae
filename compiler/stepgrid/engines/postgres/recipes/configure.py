"""Postgres by its configure script and make."""

from __future__ import annotations

import shlex
from pathlib import Path

from stepgrid.build.compilation.source_build import RUN_PATH, Compile, SourceRecipe, prepare
from stepgrid.build.compilation.toolchain import COMPILERS
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.engines.postgres.recipes.source_build import HOME, MARK, PACKAGES, finish, generators

# What is of no use to a benchmark, or would be there by chance. A release that does not know an option says so and
# goes on. `LZ4_LIBS` and the like keep configure from asking pkg-config, which knows only what is installed.
_OPTIONS = ("--disable-rpath", "--without-readline", "--without-icu", "--with-lz4", "--with-zstd")
_LIBRARIES = ("LZ4_CFLAGS= ", "LZ4_LIBS=-llz4", "ZSTD_CFLAGS= ", "ZSTD_LIBS=-lzstd")


class PostgresConfigure(SourceRecipe):
    name, tools = "configure", (*COMPILERS, "make", "perl")

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, MARK, PACKAGES, *self.tools, *generators(material))
        made, staging = order.folder / "made", order.folder / "staging"
        made.mkdir()
        environment = {**compiled.devel.search(made), **RUN_PATH}
        search = _search(compiled)
        compiled.run([str(compiled.tree / "configure"), *_arguments(compiled), *search], made, environment)
        make = [compiled.tools["make"], "MAKELEVEL=0"]
        compiled.run([*make, *compiled.parallel], made, environment)
        compiled.run([*make, "install", f"DESTDIR={staging}"], made, environment)
        return finish(compiled, staging, {"system": self.name})


def _arguments(compiled: Compile) -> list[str]:
    flags, tools = compiled.flags, compiled.tools
    own = flags.cflags or ("-O2",)
    return [
        f"--prefix={HOME}",
        *_OPTIONS,
        *(["--enable-cassert"] if flags.assertions else []),
        f"CC={tools.launched_cc}",
        f"CXX={tools.launched_cxx}",
        f"CFLAGS={shlex.join((*own, *compiled.code))}",
        f"LDFLAGS={shlex.join(flags.ldflags)}",
        *_LIBRARIES,
        *(f"{name}={value}" for name, value in flags.variables.items()),
    ]


def _search(compiled: Compile) -> list[str]:
    folder: Path | None = compiled.devel.folder
    return [f"--with-includes={folder}/include", f"--with-libraries={folder}/lib"] if folder else []
