"""What the two ways of compiling RocksDB have in common: its packages and flags, and the build that is left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.compilation import pruning
from stepgrid.build.compilation.compiler_options import codegen
from stepgrid.build.compilation.source_build import Compile
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.engines.rocksdb.recipes import source_tree
from stepgrid.engines.rocksdb.recipes.capability_check import probe
from stepgrid.model.plan import Json

PACKAGES = ("libgflags-dev", "libsnappy-dev", "liblz4-dev", "libzstd-dev", "zlib1g-dev", "libbz2-dev")


def cxx_code(compiled: Compile) -> tuple[str, ...]:
    return (*compiled.code, *source_tree.forgotten(compiled.tree), *compiled.flags.cxxflags)


def finish(compiled: Compile, recipe: str, program: Path, facts: Mapping[str, Json]) -> BuiltPrograms:
    if not program.is_file():
        raise BuildError(f"the compile ended well and left no {program.name}")
    seen = codegen(program)
    kept = pruning.keep(compiled.order, {"db_bench": program})
    said = probe(compiled.order, kept.programs["db_bench"])
    return BuiltPrograms(
        kept.programs,
        quality={"route": "source", **seen, "compressions": said.compressions},
        artifacts=compiled.devel.artifacts,
        facts={**compiled.tools.facts(), **kept.facts(), **facts, "system": recipe},
    )
