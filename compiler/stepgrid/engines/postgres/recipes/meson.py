"""Postgres by meson and ninja, from release 16 on."""

from __future__ import annotations

import shlex
from pathlib import Path

from stepgrid.build.compilation.source_build import RUN_PATH, Compile, SourceRecipe, prepare
from stepgrid.build.compilation.toolchain import COMPILERS
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.engines.postgres.recipes.source_build import HOME, MARK, PACKAGES, finish, generators

# Nothing that is there by chance. The optimisation is that of the configure script's build.
_OPTIONS = ("--auto-features=disabled", "-Drpath=false", "-Dzlib=enabled", "-Dlz4=enabled", "-Dzstd=enabled")
_PLAIN = ("-Doptimization=2", "-Ddebug=false")
# meson asks pkg-config for libraries, by names whose files lie beside the headers here
_LIBRARIES = {"zlib": "z", "liblz4": "lz4", "libzstd": "zstd"}


class PostgresMeson(SourceRecipe):
    name, tools = "meson", (*COMPILERS, "meson", "ninja", "make", "perl", "pkg-config")

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, MARK, PACKAGES, *self.tools, *generators(material))
        made, staging = order.folder / "made", order.folder / "staging"
        meson, ninja = compiled.tools["meson"], compiled.tools["ninja"]
        environment = {**_environment(compiled), **_known(compiled), **RUN_PATH}
        compiled.run([meson, "setup", *_arguments(compiled), str(made), str(compiled.tree)], order.folder, environment)
        compiled.run([ninja, *compiled.parallel], made, environment)
        compiled.run([meson, "install", "--no-rebuild", "--quiet", "--destdir", str(staging)], made, environment)
        return finish(compiled, staging, {"system": self.name})


def _arguments(compiled: Compile) -> list[str]:
    flags = compiled.flags
    kind = (f"--buildtype={flags.type.lower()}",) if flags.type else _PLAIN
    asserting = ("-Dcassert=true",) if flags.assertions else ()
    return [
        f"--prefix={HOME}",
        "--libdir=lib",
        *_OPTIONS,
        *kind,
        *asserting,
        *(f"-D{name}={value}" for name, value in flags.variables.items()),
    ]


def _environment(compiled: Compile) -> dict[str, str]:
    flags, tools = compiled.flags, compiled.tools
    return {
        "CC": tools.launched_cc,
        "CXX": tools.launched_cxx,
        "CFLAGS": shlex.join((*compiled.code, *flags.cflags)),
        "LDFLAGS": shlex.join(flags.ldflags),
    }


def _known(compiled: Compile) -> dict[str, str]:
    if compiled.devel.folder is None:
        return {}
    folder: Path = compiled.devel.folder
    for name, library in _LIBRARIES.items():
        lines = (f"Name: {name}", f"Description: {name}", "Version: 99", f"Cflags: -I{folder}/include")
        text = "\n".join((*lines, f"Libs: -L{folder}/lib -l{library}")) + "\n"
        (folder / f"{name}.pc").write_text(text, encoding="utf-8")
    return {"PKG_CONFIG_PATH": str(folder)}
