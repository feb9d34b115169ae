"""What the two ways of compiling RocksDB have in common: before the compile, and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.build import flags as flags_of
from compiler.build import slim
from compiler.build.codegen import codegen
from compiler.build.declared import TREES, kind_of
from compiler.build.devel import Development, development
from compiler.build.flags import Flags
from compiler.build.order import Order
from compiler.build.problem import BuildError
from compiler.build.recipes import rocksdb_tree
from compiler.build.recipes.protocol import Made
from compiler.build.recipes.rocksdb_probe import probe
from compiler.build.sources.protocol import Material
from compiler.build.toolchain import Toolchain, code_flags, find
from compiler.plan.model import Json, PlannedBuild

SECONDS = 6 * 3600.0
PACKAGES = ("libgflags-dev", "libsnappy-dev", "liblz4-dev", "libzstd-dev", "zlib1g-dev", "libbz2-dev")
_DEFAULT = "make"


@dataclass(frozen=True, slots=True)
class Workshop:
    """A tree, and all that it is compiled with."""

    order: Order
    tree: Path
    flags: Flags
    tools: Toolchain
    devel: Development

    @property
    def code(self) -> tuple[str, ...]:
        return code_flags(self.order, self.flags)

    @property
    def cxx_code(self) -> tuple[str, ...]:
        return (*self.code, *rocksdb_tree.forgotten(self.tree), *self.flags.cxxflags)

    def run(self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        if self.order.commands.compile(argv, SECONDS, cwd=cwd, env={**self.tools.environment, **environment}):
            raise BuildError(f"{Path(argv[0]).name} failed; the end of the log says where")


def takes(build: PlannedBuild, system: str) -> bool:
    chosen = flags_of.read(build.recipe).system or _DEFAULT
    return build.engine == "rocksdb" and kind_of(build.source) in TREES and chosen == system


def workshop(order: Order, material: Material, *tools: str) -> Workshop:
    if material.tree is None:
        raise BuildError("the source brings no tree to compile")
    flags = flags_of.read(order.build.recipe)
    found = find(order, flags, *tools)  # before anything is fetched: what is missing is said at once
    return Workshop(
        order, rocksdb_tree.root(material.tree), flags, found, development(order, PACKAGES, flags.libraries)
    )


def finish(shop: Workshop, recipe: str, program: Path, facts: Mapping[str, Json]) -> Made:
    if not program.is_file():
        raise BuildError(f"the compile ended well and left no {program.name}")
    seen = codegen(program)
    kept = slim.keep(shop.order, {"db_bench": program})
    said = probe(shop.order, kept.programs["db_bench"])
    return Made(
        kept.programs,
        quality={"route": "source", **seen, "compressions": said.compressions},
        artifacts=shop.devel.artifacts,
        facts={**shop.tools.facts(), **kept.facts(), **facts, "system": recipe},
    )
