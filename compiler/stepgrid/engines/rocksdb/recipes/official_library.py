"""An official library of RocksDB or a fork, as it lies in a Java archive: what it was made for, read from its names."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path

from stepgrid.build.compilation.elf import strings
from stepgrid.build.error import BuildError

_SUFFIXES = {"x86_64": "64", "aarch64": "-aarch64", "ppc64le": "-ppc64le", "s390x": "-s390x", "riscv64": "-riscv64"}

# by a function that a library which can compress so has; code in headers must see what the library saw
_COMPRESSIONS = {"ZSTD": "ZSTD_compress", "LZ4": "LZ4_compress_default", "ZLIB": "deflate", "BZIP2": "BZ2_bzCompress"}


@dataclass(frozen=True, slots=True)
class Library:
    path: Path
    names: frozenset[str]  # of what it gives and takes

    @property
    def old_abi(self) -> bool:
        """Whether its std::string is that of before C++11: all parts of a program must agree on it."""
        return any(re.match(r"_ZN7rocksdb2DB4OpenE.*RKSs", name) for name in self.names)

    @property
    def rtti(self) -> bool:
        return "_ZTIN7rocksdb2DBE" in self.names

    @property
    def macros(self) -> tuple[str, ...]:
        found = [macro for macro, name in _COMPRESSIONS.items() if name in self.names]
        snappy = any(name.startswith("_ZN6snappy8Compress") for name in self.names)
        return (*found, *(("SNAPPY",) if snappy else ()), *(("ROCKSDB_USE_RTTI",) if self.rtti else ()))


def library(prefix: Path) -> Library:
    machine = platform.machine()
    found = sorted(prefix.rglob(f"lib*jni-linux{_SUFFIXES.get(machine, '-' + machine)}.so"))
    if not found:
        there = ", ".join(sorted(path.name for path in prefix.rglob("*.so"))) or "none"
        raise BuildError(f"the artifact has no library for {machine}; its libraries are: {there}")
    return Library(found[0], frozenset(strings(found[0], ".dynstr")))
