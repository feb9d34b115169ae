"""What a source tree of RocksDB or of a fork says of itself."""

from __future__ import annotations

import re
from pathlib import Path

from stepgrid.build.error import BuildError

MARK = "include/rocksdb/version.h"  # by which a tree of RocksDB or of a fork is known
_ALWAYS = ("tools/db_bench.cc", "test_util/testutil.cc")  # as the tree's own rule for db_bench has it
_FORGOTTEN = ("cstdint", "functional", "limits")
_NAMES_THEM = 8
_OLDER = {"test_util/testutil.cc": "util/testutil.cc"}


def version(tree: Path) -> str:
    return version_in((tree / MARK).read_text(encoding="utf-8"))


def version_in(text: str) -> str:
    parts = [re.search(rf"^#define ROCKSDB_{part}\s+(\d+)", text, re.MULTILINE) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(part[1] for part in parts if part)


def standard(tree: Path) -> str:
    """The C++ standard that the tree compiles itself with."""
    script = tree / "build_tools" / "build_detect_platform"
    files = [path for path in (script, tree / "CMakeLists.txt", tree / "Makefile") if path.is_file()]
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"-std=(?:c|gnu)\+\+(\d\w)|CMAKE_CXX_STANDARD (\d\d)", text):
            return f"c++{found[1] or found[2]}"
    raise BuildError("the source tree does not say which C++ standard it is in")


def forgotten(tree: Path) -> tuple[str, ...]:
    """Standard headers that old releases use without naming them: the compilers of their time brought them along."""
    old = int(version(tree).partition(".")[0]) < _NAMES_THEM
    return tuple(word for header in _FORGOTTEN for word in ("-include", header)) if old else ()


def bench_sources(tree: Path) -> list[Path]:
    """The files that db_bench consists of, the library apart; relative to the tree."""
    makefile = tree / "src.mk"
    if not makefile.is_file():
        raise BuildError("the source tree has no src.mk, which lists the files of db_bench")
    text = makefile.read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.search(r"^BENCH_LIB_SOURCES\s*=(.*)$", text, re.MULTILINE)
    names = [*(found[1].split() if found else ()), *_ALWAYS]
    there = [name if (tree / name).is_file() else _OLDER.get(name, name) for name in names]
    missing = [name for name in there if not (tree / name).is_file()]
    if missing or not found:
        raise BuildError(f"the source tree lacks {', '.join(missing) or 'a list of the files of db_bench'}")
    return [Path(name) for name in there]
