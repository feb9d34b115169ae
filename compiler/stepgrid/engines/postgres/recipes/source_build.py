"""What the two ways of compiling Postgres have in common: its options, and the build that is left."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.compilation import pruning
from stepgrid.build.compilation.compiler_options import codegen
from stepgrid.build.compilation.source_build import PREFIX, Compile, installed
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.recipes.server_programs import find
from stepgrid.build.source import Material
from stepgrid.engines.postgres import extensions
from stepgrid.model.plan import Json

MARK = "src/include/access/xlog.h"
PACKAGES = ("zlib1g-dev", "liblz4-dev", "libzstd-dev")
# It is installed below a staging folder, and finds its files from where its programs are.
HOME = "/stepgrid"


def generators(material: Material) -> tuple[str, ...]:
    """What makes the parsers, which the archives of older releases bring along."""
    made = material.tree is not None and any(material.tree.glob("**/backend/parser/gram.c"))
    return () if made else ("bison", "flex")


def finish(compiled: Compile, staging: Path, facts: Mapping[str, Json]) -> BuiltPrograms:
    """`staging`: the folder that stands for the root of the file system."""
    order, home = compiled.order, staging / HOME.lstrip("/")
    added = extensions.compile_asked(compiled, home)
    seen = codegen(home / "bin" / "postgres")
    prefix = installed(compiled, home, ("bin", "lib", "share"))
    programs = find(prefix, order.engine, "the compiled tree")
    _drop_programs(prefix, programs)
    for left in (*prefix.rglob("pgxs"), *prefix.rglob("pkgconfig")):
        shutil.rmtree(left)  # for compiles of extensions; they name folders that are gone
    pruning.prune(order.folder, (PREFIX,))
    return BuiltPrograms(
        {name: (str(path.relative_to(order.folder)),) for name, path in programs.items()},
        quality={"route": "source", **seen, **extensions.record(added.found)},
        artifacts=(*compiled.devel.artifacts, *added.artifacts),
        facts={**compiled.tools.facts(), **facts, **extensions.record(added.found)},
    )


def _drop_programs(prefix: Path, kept: Mapping[str, Path]) -> None:
    for path in (prefix / "bin").iterdir():
        if path not in kept.values():
            path.unlink()
