"""gflags, which db_bench reads its options with, compiled for an ABI that no distribution has it in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from compiler.build.order import Order
from compiler.build.problem import BuildError
from compiler.build.sources import source_of
from compiler.build.sources.protocol import Artifact
from compiler.build.toolchain import Toolchain
from compiler.plan.model import Json

SOURCE: dict[str, Json] = {"debian-source": "gflags", "suite": "bookworm"}
_SECONDS = 600.0
_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DBUILD_STATIC_LIBS=ON",
    "-DBUILD_gflags_LIB=ON",
    "-DBUILD_gflags_nothreads_LIB=OFF",
    "-DBUILD_TESTING=OFF",
    "-DREGISTER_BUILD_DIR=OFF",
    "-DREGISTER_INSTALL_PREFIX=OFF",  # else it writes into the user's home
)


def compile_gflags(order: Order, tools: Toolchain, code: Sequence[str]) -> tuple[Path, tuple[Artifact, ...]]:
    """The folder with include/ and lib/libgflags.a."""
    folder = order.folder / "gflags"
    folder.mkdir()
    material = source_of(SOURCE).fetch(SOURCE, folder, order)
    if material.tree is None:
        raise BuildError("the source package of gflags holds no source tree")
    home = order.folder / "gflags-made"
    compilers = (f"-DCMAKE_C_COMPILER={tools.cc}", f"-DCMAKE_CXX_COMPILER={tools.cxx}", *tools.cmake_launcher)
    flags = f"-DCMAKE_CXX_FLAGS={' '.join(code)}"
    places = ("-S", str(material.tree), "-B", str(folder / "made"), f"-DCMAKE_INSTALL_PREFIX={home}")
    _run(order, tools, [tools["cmake"], *places, *_OPTIONS, *compilers, flags])
    _run(order, tools, [tools["cmake"], "--build", str(folder / "made"), "--target", "install"])
    return home, material.artifacts


def _run(order: Order, tools: Toolchain, argv: Sequence[str]) -> None:
    if order.commands.compile(argv, _SECONDS, env=tools.environment):
        raise BuildError("gflags, which db_bench needs, could not be compiled")
