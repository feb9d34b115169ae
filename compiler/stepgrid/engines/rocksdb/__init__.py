"""RocksDB, embedded in db_bench: the program is client and engine in one."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.engines.rocksdb import capability_releases, gflags
from stepgrid.language.builds.source_defaults import Library
from stepgrid.plugins.capabilities import reached
from stepgrid.plugins.engine import Built, Identity, IdentityError, OptionInfo, Run

if TYPE_CHECKING:
    from stepgrid.build.recipe import Recipe
    from stepgrid.lint.rule import Rule

# gflags' own options, and those of tools that a shared library carries along: db_bench takes them and does nothing
_OTHER_PROGRAMS = re.compile(r"/gflags\w*\.cc$|_analyzer\w*\.cc$|_parser\w*\.cc$")

# what db_bench compares these with; an older one takes another word for snappy, and says so among its output
_COMPRESSION = ("none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "xpress", "zstd")
_CACHES = (
    "lru_cache", "clock_cache", "fast_lru_cache", "hyper_clock_cache", "fixed_hyper_clock_cache",
    "auto_hyper_clock_cache",
)  # fmt: skip

_PROBE = ("--benchmarks=fillseq", "--num=10", "--seed=1")
_VERSIONS = (
    r"^\S+ \S+ RocksDB version: (\d+(?:\.\d+)+)",  # the database's LOG: 6.11 says its patch level nowhere else
    r"^db_bench version (\d+(?:\.\d+)+)",
    r"^RocksDB: +version (\d+(?:\.\d+)+)",
)


class RocksDB:
    name = "rocksdb"
    programs: tuple[str, ...] = ("db_bench",)
    kinds: tuple[str, ...] = ("db_bench", "quiesce", "command")
    immutable: tuple[str, ...] = ("*.sst", "*.blob")
    server = False
    storage_engines: tuple[str, ...] = ("rocksdb",)
    default_storage_engine = "rocksdb"
    extensions: tuple[str, ...] = ()
    systems: tuple[str, ...] = ("make", "cmake")
    reserved: Mapping[str, str] = {}
    choices: Mapping[str, Sequence[str]] = {
        "compression_type": _COMPRESSION,
        "blob_compression_type": _COMPRESSION,
        "blob_db_compression_type": _COMPRESSION,
        "compressed_secondary_cache_compression_type": _COMPRESSION,
        "cache_type": _CACHES,
    }

    # the library of a release and the tree of the same release make its program in seconds
    libraries: Mapping[str, Library] = {
        "org.rocksdb:rocksdbjni": Library("linux64", "https://github.com/facebook/rocksdb.git", "v{}", one_jar_from=11),
        "io.github.speedb-io:speedbjni": Library("", "https://github.com/speedb-io/speedb.git", "speedb/v{}"),
    }
    version_file = "include/rocksdb/version.h"
    booleans = ("true", "false", "t", "f", "yes", "no", "y", "n", "1", "0")
    counts_choices = False
    known_options = Path(__file__).with_name("known_options.json")

    def value_fault(self, info: Mapping[str, Any], text: str) -> str | None:
        return gflags.number_fault(str(info.get("type")), text)

    def capabilities(self, version: str) -> frozenset[str]:
        return reached(version, capability_releases.SINCE)

    def identify(self, run: Run) -> Identity:
        with tempfile.TemporaryDirectory(prefix="db_bench.") as folder:
            stdout, stderr = run("db_bench", (*_PROBE, f"--db={folder}"))
            log = _log(Path(folder))
        printed = f"{stdout}\n{stderr}"
        if "micros/op" not in stdout:
            raise IdentityError(f"db_bench did not get through a load of 10 keys; it said: {_tail(printed)}")
        return _identity(log, f"{' '.join(run('db_bench', ('--version',)))}\n{printed}")

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        stdout, stderr = run("db_bench", ("--help",))
        found = gflags.options(stdout or stderr, _OTHER_PROGRAMS)
        if "benchmarks" not in found:
            raise IdentityError(f"db_bench --help does not list its options; it said: {_tail(stdout + stderr)}")
        return found

    def levels(self, database: Path) -> Sequence[Mapping[str, float | str]]:
        from stepgrid.engines.rocksdb import manifest

        return manifest.levels(database)

    def version_in(self, text: str) -> str:
        from stepgrid.engines.rocksdb.recipes.source_tree import version_in

        return version_in(text)

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid.engines.rocksdb.recipes.cmake import RocksDBCMake
        from stepgrid.engines.rocksdb.recipes.library import RocksDBLibrary
        from stepgrid.engines.rocksdb.recipes.make import RocksDBMake

        return RocksDBLibrary(), RocksDBMake(), RocksDBCMake()

    def rules(self) -> Sequence[Rule]:
        from stepgrid.lint.step_limits import cache_over_memory

        return [cache_over_memory("cache_size")]


def _log(folder: Path) -> str:
    path = folder / "LOG"
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _identity(log: str, printed: str) -> Identity:
    texts = (log, printed, printed)
    versions = (re.search(pattern, text, re.MULTILINE) for pattern, text in zip(_VERSIONS, texts, strict=True))
    version = next((match[1] for match in versions if match), None)
    if version is None:
        raise IdentityError(f"db_bench does not say which RocksDB it is; it said: {_tail(printed)}")
    warnings = tuple(dict.fromkeys(re.findall(r"^WARNING: (.+)$", printed, re.MULTILINE)))
    assertions = any("Assertions are enabled" in warning for warning in warnings)
    return Identity(version, warnings, assertions, _facts(log, printed))


def _facts(log: str, printed: str) -> dict[str, str]:
    found = {
        "git": re.search(r"Git sha ([0-9a-f]{7,})", log),
        "compiled": re.search(r"Compile date (.+)", log),
        "default compression": re.search(r"^Compression: (.+)$", printed, re.MULTILINE),
    }
    return {name: match[1].strip() for name, match in found.items() if match}


def _tail(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-3:]) or "nothing"


ENGINE: Built = RocksDB()
