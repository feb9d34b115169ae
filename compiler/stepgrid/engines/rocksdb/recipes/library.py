"""The fast way: the official library of a release, and db_bench of the same release compiled against it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.compilation import pruning
from stepgrid.build.compilation.compiler_options import codegen, published
from stepgrid.build.compilation.development_packages import development
from stepgrid.build.compilation.source_build import Compile, root
from stepgrid.build.compilation.toolchain import COMPILERS, find
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Artifact, Material
from stepgrid.build.sources import source_of
from stepgrid.build.task import Order
from stepgrid.engines.rocksdb.recipes import official_library, source_tree
from stepgrid.engines.rocksdb.recipes.bench import compile_bench
from stepgrid.engines.rocksdb.recipes.capability_check import probe
from stepgrid.engines.rocksdb.recipes.source_build import PACKAGES
from stepgrid.language.builds.flags import read as read_flags
from stepgrid.model.plan import PlannedBuild


class RocksDBLibrary:
    name, tools = "library", (*COMPILERS, "cmake", "make")

    def takes(self, build: PlannedBuild) -> bool:
        return "maven" in build.source

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        if material.prefix is None:
            raise BuildError("the artifact holds no library")
        library = official_library.library(material.prefix)
        flags = read_flags(order.build.recipe)
        tools = find(order, flags, *self.tools)  # before more is fetched: what is missing is said at once
        tree, fetched = _tree(order)
        release = source_tree.version(tree)
        bench = compile_bench(
            Compile(order, tree, flags, tools, development(order, PACKAGES, flags.libraries)), library
        )
        client = codegen(bench.program)
        kept = pruning.keep(order, {"db_bench": bench.program}, [library.path], strip_them=False)
        said = probe(order, kept.programs["db_bench"])
        _refuse_other(said.version, release)
        quality = published(order.folder / pruning.LIBRARIES / library.path.name)
        return BuiltPrograms(
            kept.programs,
            quality={**quality, "route": self.name, "compressions": said.compressions},
            artifacts=(*fetched, *bench.artifacts),
            facts={**tools.facts(), **kept.facts(), "client": client, "standard": bench.standard},
        )


def _refuse_other(library: str | None, tree: str) -> None:
    if library not in (None, tree):
        told = "db_bench and its library must be of one release, so name another `tree:`"
        raise BuildError(f"the library is of {library}, the tree of {tree}: {told}")


def _tree(order: Order) -> tuple[Path, tuple[Artifact, ...]]:
    declared = order.build.source.get("tree")
    if not isinstance(declared, Mapping):
        raise BuildError("db_bench is compiled from the tree of the library's release: the source needs a `tree:`")
    folder = order.folder / "bench"
    folder.mkdir()
    source = source_of(declared)
    material = source.fetch(declared, folder, order)
    if material.tree is None:
        raise BuildError(f"{source.describe(declared)} brings no tree to compile")
    return root(material.tree, source_tree.MARK, "rocksdb"), material.artifacts
