"""RocksDB and its forks by the tree's own Makefile: a release build of db_bench."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from stepgrid.build.compilation.source_build import Compile, SourceRecipe, prepare
from stepgrid.build.compilation.toolchain import COMPILERS, FOLDER_MAP
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.engines.rocksdb.recipes import source_tree
from stepgrid.engines.rocksdb.recipes.source_build import PACKAGES, cxx_code, finish
from stepgrid.model.plan import Json

# What the tree would take from the machine when it happens to be there: the same spec must give the same build.
# `env.NAME:` in the build's flags says otherwise.
_ALONE = {
    "ROCKSDB_NO_FBCODE": "1",
    "ROCKSDB_DISABLE_JEMALLOC": "1",
    "ROCKSDB_DISABLE_TCMALLOC": "1",
    "ROCKSDB_DISABLE_NUMA": "1",
    "ROCKSDB_DISABLE_TBB": "1",
    "ROCKSDB_DISABLE_MEMKIND": "1",
    "ROCKSDB_DISABLE_BENCHMARK": "1",
    "ROCKSDB_USE_IO_URING": "0",
}


class RocksDBMake(SourceRecipe):
    name, tools = "make", (*COMPILERS, "make")

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, source_tree.MARK, PACKAGES, *self.tools)
        tree, tools = compiled.tree, compiled.tools
        compilers = {"CC": tools.cc, "CXX": tools.cxx}  # for the script that looks at the machine
        compiled.run(
            [tools["make"], *_arguments(compiled)], tree, {**_ALONE, **compilers, **compiled.devel.search(tree)}
        )
        return finish(compiled, self.name, tree / "db_bench", _configured(tree))


def _arguments(compiled: Compile) -> list[str]:
    flags, tools = compiled.flags, compiled.tools
    return [
        *compiled.parallel,
        "db_bench",
        f"DEBUG_LEVEL={1 if flags.assertions else 0}",
        "LIB_MODE=static",
        "DISABLE_WARNING_AS_ERROR=1",
        "DEPFILES=",  # a fresh tree needs none, and those of all tests take minutes
        "DEPFILES_C=",
        "DEPFILES_ASM=",
        f"CC={tools.launched_cc}",
        f"CXX={tools.launched_cxx}",
        f"EXTRA_CFLAGS={_joined(*compiled.code, *flags.cflags)}",
        f"EXTRA_CXXFLAGS={_joined(*cxx_code(compiled))}",
        f"EXTRA_LDFLAGS={_joined(*flags.ldflags)}",
        *(["PORTABLE=1"] if flags.march else []),  # else the tree adds -march=native beside it
        *(f"{name}={value}" for name, value in flags.variables.items()),
    ]


def _joined(*words: str) -> str:
    return shlex.join(words).replace("$", "$$")  # for make


def _configured(tree: Path) -> dict[str, Json]:
    """What the tree's own detection found on this machine."""
    path = tree / "make_config.mk"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    found = re.findall(r"^PLATFORM_(CCFLAGS|CXXFLAGS|LDFLAGS)=(.*)$", text, re.MULTILINE)
    return {"configured": {name: _anywhere(value) for name, value in found}}


def _anywhere(words: str) -> str:
    return " ".join(word for word in words.split() if not word.startswith(FOLDER_MAP))
