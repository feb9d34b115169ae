"""Recipes of RocksDB and its forks: by make, by cmake, or db_bench against a published library of the same release."""

from __future__ import annotations

import platform
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from stepgrid.build.elf import codegen, published_codegen, strings
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact, BuiltPrograms, Material, Order, SourceRecipe, source_of
from stepgrid.build.record import absolute
from stepgrid.language.flags import read_flags
from stepgrid.model.plan import Json, PlannedBuild
from stepgrid_databases.engines.recipes import compilation
from stepgrid_databases.engines.recipes.compilation import (
    COMPILERS,
    FOLDER_MAP,
    Compile,
    development,
    find_toolchain,
    prepare,
    tree_root,
)

MARK = "include/rocksdb/version.h"  # by which a tree of RocksDB or of a fork is known
_PACKAGES = ("libgflags-dev", "libsnappy-dev", "liblz4-dev", "libzstd-dev", "zlib1g-dev", "libbz2-dev")


class RocksDBMake(SourceRecipe):
    """Run the tree's own Makefile: a release build of db_bench."""

    name, tools = "make", (*COMPILERS, "make")

    # What the tree would take from the machine when it happens to be there: the same spec must give the same build.
    # `env.NAME:` in the build's flags says otherwise.
    _variables: Mapping[str, str] = {
        "ROCKSDB_NO_FBCODE": "1",
        "ROCKSDB_DISABLE_JEMALLOC": "1",
        "ROCKSDB_DISABLE_TCMALLOC": "1",
        "ROCKSDB_DISABLE_NUMA": "1",
        "ROCKSDB_DISABLE_TBB": "1",
        "ROCKSDB_DISABLE_MEMKIND": "1",
        "ROCKSDB_DISABLE_BENCHMARK": "1",
        "ROCKSDB_USE_IO_URING": "0",
    }

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, MARK, _PACKAGES, *self.tools)
        tree, tools, flags = compiled.tree, compiled.tools, compiled.flags
        arguments = [
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
            f"EXTRA_CFLAGS={_quote_for_make(*compiled.code, *flags.cflags)}",
            f"EXTRA_CXXFLAGS={_quote_for_make(*_cxx_flags(compiled))}",
            f"EXTRA_LDFLAGS={_quote_for_make(*flags.ldflags)}",
            *(["PORTABLE=1"] if flags.march else []),  # else the tree adds -march=native beside it
            *(f"{name}={value}" for name, value in flags.variables.items()),
        ]
        compilers = {"CC": tools.cc, "CXX": tools.cxx}  # for the script that looks at the machine
        environment = {**self._variables, **compilers, **compiled.devel.search(tree)}
        compiled.run([tools["make"], *arguments], tree, environment)
        return _finish(compiled, self.name, tree / "db_bench", _make_configuration(tree))


def _quote_for_make(*words: str) -> str:
    return shlex.join(words).replace("$", "$$")


def _make_configuration(tree: Path) -> dict[str, Json]:
    """Read which flags the tree's script chose for this machine, without those that name the build's folder."""
    path = tree / "make_config.mk"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    lines = re.findall(r"^PLATFORM_(CCFLAGS|CXXFLAGS|LDFLAGS)=(.*)$", text, re.MULTILINE)
    return {
        "configured": {
            name: " ".join(word for word in value.split() if not word.startswith(FOLDER_MAP)) for name, value in lines
        }
    }


class RocksDBCMake(SourceRecipe):
    """Build the target db_bench by cmake and ninja, without tests and tools."""

    name, tools = "cmake", (*COMPILERS, *compilation.CMAKE_TOOLS)
    _options: Mapping[str, str] = {
        **dict.fromkeys(("WITH_GFLAGS", "WITH_SNAPPY", "WITH_LZ4", "WITH_ZSTD", "WITH_ZLIB", "WITH_BZ2"), "ON"),
        **dict.fromkeys(("WITH_TESTS", "WITH_ALL_TESTS", "WITH_TOOLS", "WITH_CORE_TOOLS", "WITH_TRACE_TOOLS"), "OFF"),
        "WITH_BENCHMARK_TOOLS": "ON",
        "WITH_LIBURING": "OFF",
        "ROCKSDB_BUILD_SHARED": "OFF",
        "FAIL_ON_WARNINGS": "OFF",
    }

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, MARK, _PACKAGES, *self.tools)
        folder, flags = order.folder / "made", compiled.flags
        optimised = f"FLAGS_{compilation.cmake_build_type(compiled).upper()}"
        options = {
            **self._options,
            "CMAKE_CXX_FLAGS": shlex.join(_cxx_flags(compiled)),
            **({"PORTABLE": "1"} if flags.march else {}),  # else the tree adds -march=native beside it
            **({f"CMAKE_{language}_{optimised}": "-O3" for language in ("C", "CXX")} if flags.assertions else {}),
        }
        compilation.configure_cmake(compiled, folder, options)
        compiled.run([compiled.tools["ninja"], *compiled.parallel, "db_bench"], folder)
        programs = [path for path in sorted(folder.glob("db_bench*")) if path.is_file()]  # a fork adds a suffix
        configuration = compilation.cmake_settings(folder, re.compile("WITH_|PORTABLE|CMAKE_BUILD_TYPE|USE_"))
        return _finish(compiled, self.name, programs[0] if programs else folder / "db_bench", configuration)


def _cxx_flags(compiled: Compile) -> tuple[str, ...]:
    return (*compiled.code, *forgotten_headers(compiled.tree), *compiled.flags.cxxflags)


def _finish(compiled: Compile, system: str, program: Path, configuration: Mapping[str, Json]) -> BuiltPrograms:
    if not program.is_file():
        raise BuildError(f"the compile ended well and left no {program.name}")
    quality = codegen(program)
    pruned = compilation.keep_programs(compiled.order, {"db_bench": program})
    capabilities = probe(compiled.order, pruned.programs["db_bench"])
    return BuiltPrograms(
        pruned.programs,
        quality={"route": "source", **quality, "compressions": capabilities.compressions},
        artifacts=compiled.devel.artifacts,
        facts={**compiled.tools.facts(), **pruned.facts(), **configuration, "system": system},
    )


class RocksDBLibrary:
    """Compile db_bench of a release against the published library of the same release."""

    name, tools = "library", (*COMPILERS, "cmake", "make")

    def takes(self, build: PlannedBuild) -> bool:
        return "maven" in build.source

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        if material.prefix is None:
            raise BuildError("the artifact holds no library")
        library = find_library(material.prefix)
        flags = read_flags(order.build.recipe)
        tools = find_toolchain(order, flags, *self.tools)
        if material.tree is None:
            raise BuildError("db_bench is compiled from the tree of the library's release: the source needs a `tree:`")
        tree = tree_root(material.tree, MARK, "rocksdb")
        release = version_in((tree / MARK).read_text(encoding="utf-8"))
        compiled = Compile(order, tree, flags, tools, development(order, _PACKAGES, flags.libraries))
        bench = compile_bench(compiled, library)
        client = codegen(bench.program)
        pruned = compilation.keep_programs(order, {"db_bench": bench.program}, [library.path], strip_libraries=False)
        capabilities = probe(order, pruned.programs["db_bench"])
        if capabilities.version not in (None, release):
            raise BuildError(
                f"the library is of {capabilities.version}, the tree of {release}: db_bench and its library must be of"
                " one release, so name another `tree:`"
            )
        quality = published_codegen(order.folder / compilation.LIBRARIES / library.path.name)
        return BuiltPrograms(
            pruned.programs,
            quality={**quality, "route": self.name, "compressions": capabilities.compressions},
            artifacts=bench.artifacts,
            facts={**tools.facts(), **pruned.facts(), "client": client, "standard": bench.standard},
        )


# by a function that a library which can compress so has; code in headers must see what the library saw
_COMPRESSIONS = {"ZSTD": "ZSTD_compress", "LZ4": "LZ4_compress_default", "ZLIB": "deflate", "BZIP2": "BZ2_bzCompress"}


class FetchedLibrary(Struct, frozen=True):
    """A library as it lies in a Java archive; its symbols say what it was compiled for."""

    path: Path
    symbols: frozenset[str]

    @property
    def old_abi(self) -> bool:
        """True where its std::string is that of before C++11: all parts of a program must agree on it."""
        return any(re.match(r"_ZN7rocksdb2DB4OpenE.*RKSs", name) for name in self.symbols)

    @property
    def rtti(self) -> bool:
        return "_ZTIN7rocksdb2DBE" in self.symbols

    @property
    def macros(self) -> tuple[str, ...]:
        compressions = [macro for macro, name in _COMPRESSIONS.items() if name in self.symbols]
        snappy = any(name.startswith("_ZN6snappy8Compress") for name in self.symbols)
        return (*compressions, *(("SNAPPY",) if snappy else ()), *(("ROCKSDB_USE_RTTI",) if self.rtti else ()))


_SUFFIXES = {"x86_64": "64", "aarch64": "-aarch64", "ppc64le": "-ppc64le", "s390x": "-s390x", "riscv64": "-riscv64"}


def find_library(prefix: Path) -> FetchedLibrary:
    machine = platform.machine()
    libraries = sorted(prefix.rglob(f"lib*jni-linux{_SUFFIXES.get(machine, '-' + machine)}.so"))
    if not libraries:
        names = ", ".join(sorted(path.name for path in prefix.rglob("*.so"))) or "none"
        raise BuildError(f"the artifact has no library for {machine}; its libraries are: {names}")
    return FetchedLibrary(libraries[0], frozenset(strings(libraries[0], ".dynstr")))


class Bench(NamedTuple):
    program: Path
    standard: str
    artifacts: tuple[Artifact, ...]


_OLD_ABI = "-D_GLIBCXX_USE_CXX11_ABI=0"
# as a release build of the tree has them on Linux
_PLATFORM = (
    "ROCKSDB_PLATFORM_POSIX", "ROCKSDB_LIB_IO_POSIX", "OS_LINUX", "ROCKSDB_FALLOCATE_PRESENT",
    "ROCKSDB_MALLOC_USABLE_SIZE", "ROCKSDB_PTHREAD_ADAPTIVE_MUTEX", "ROCKSDB_BACKTRACE", "ROCKSDB_RANGESYNC_PRESENT",
    "ROCKSDB_SCHED_GETCPU_PRESENT", "ROCKSDB_AUXV_GETAUXVAL_PRESENT", "GFLAGS=1",
    "ROCKSDB_SUPPORT_THREAD_LOCAL",  # 6.x asks for it
)  # fmt: skip


def compile_bench(compiled: Compile, library: FetchedLibrary) -> Bench:
    """Compile db_bench, and only it, as its library was compiled."""
    order, tools, tree, flags = compiled.order, compiled.tools, compiled.tree, compiled.flags
    gflags, artifacts = _compile_gflags(compiled) if library.old_abi else (compiled.devel.folder, ())
    standard = cxx_standard(tree)
    environment = compiled.devel.search(tree)
    fault = f"{{}} could not be compiled against {library.path.name}"
    argv = [
        *([tools.ccache] if tools.ccache else []),
        tools.cxx,
        f"-std={standard}",
        *([_OLD_ABI] if library.old_abi else []),
        *compiled.code,
        *("-O2", "-w"),
        *([] if flags.assertions else ["-DNDEBUG"]),
        *([] if library.rtti else ["-fno-rtti"]),
        *(f"-D{macro}" for macro in (*_PLATFORM, *library.macros)),
        *forgotten_headers(tree),
        *flags.cxxflags,
        *(f"-I{folder}" for folder in (*([gflags / "include"] if gflags else []), ".", "include")),
    ]
    objects = []
    for number, source in enumerate(bench_sources(tree)):
        objects.append(str(order.folder / f"{number}.o"))
        compiled.run([*argv, "-c", str(source), "-o", objects[-1]], tree, environment, fault.format(source))
    program = order.folder / "db_bench"
    links = [  # by the library's name alone: it has no soname, so that a path would be written into the program
        *(f"-L{library.path.parent}", f"-l:{library.path.name}", f"-Wl,-rpath,{compilation.RPATH}"),
        *(str(gflags / "lib" / "libgflags.a") if gflags else "-lgflags", "-lpthread", "-ldl"),
    ]
    linking = [tools.cxx, *objects, *links, *flags.ldflags, "-o", str(program)]
    compiled.run(linking, tree, environment, fault.format(program.name))
    return Bench(program, standard, (*compiled.devel.artifacts, *artifacts))


_GFLAGS: Mapping[str, Json] = {"debian-source": "gflags", "suite": "bookworm"}
_GFLAGS_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_STATIC_LIBS=ON", "-DBUILD_gflags_LIB=ON",
    "-DBUILD_gflags_nothreads_LIB=OFF", "-DBUILD_TESTING=OFF", "-DREGISTER_BUILD_DIR=OFF",
    "-DREGISTER_INSTALL_PREFIX=OFF",  # else it writes into the user's home
)  # fmt: skip


def _compile_gflags(compiled: Compile) -> tuple[Path, tuple[Artifact, ...]]:
    """Compile gflags in the old ABI, in which no distribution has it, to a folder with include/ and lib/."""
    order, tools = compiled.order, compiled.tools
    folder, home = order.folder / "gflags", order.folder / "gflags-made"
    folder.mkdir()
    material = source_of(_GFLAGS).fetch(_GFLAGS, folder, order)
    if material.tree is None:
        raise BuildError("the source package of gflags holds no source tree")
    folders = ("-S", str(material.tree), "-B", str(folder / "made"), f"-DCMAKE_INSTALL_PREFIX={home}")
    compilers = (f"-DCMAKE_C_COMPILER={tools.cc}", f"-DCMAKE_CXX_COMPILER={tools.cxx}", *tools.cmake_launcher)
    flags = f"-DCMAKE_CXX_FLAGS={' '.join((*compiled.code, _OLD_ABI))}"
    configure = (*folders, *_GFLAGS_OPTIONS, *compilers, flags)
    for arguments in (configure, ("--build", str(folder / "made"), "--target", "install")):
        compiled.run([tools["cmake"], *arguments], folder, fault="gflags, which db_bench needs, could not be compiled")
    return home, material.artifacts


# Facts that a source tree of RocksDB or of a fork says of itself.

_ALWAYS = ("tools/db_bench.cc", "test_util/testutil.cc")  # as the tree's own rule for db_bench has it
_OLDER_PATHS = {"test_util/testutil.cc": "util/testutil.cc"}
_HEADERS = ("cstdint", "functional", "limits")
_NAMES_HEADERS_SINCE = 8  # major release


def version_in(text: str) -> str:
    parts = [re.search(rf"^#define ROCKSDB_{part}\s+(\d+)", text, re.MULTILINE) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(part[1] for part in parts if part)


def cxx_standard(tree: Path) -> str:
    """Read the C++ standard that the tree compiles itself with."""
    script = tree / "build_tools" / "build_detect_platform"
    for path in (script, tree / "CMakeLists.txt", tree / "Makefile"):
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        if match := re.search(r"-std=(?:c|gnu)\+\+(\d\w)|CMAKE_CXX_STANDARD (\d\d)", text):
            return f"c++{match[1] or match[2]}"
    raise BuildError("the source tree does not say which C++ standard it is in")


def forgotten_headers(tree: Path) -> tuple[str, ...]:
    """Include standard headers that old releases use without naming them, as compilers of their time did."""
    version = version_in((tree / MARK).read_text(encoding="utf-8"))
    if int(version.partition(".")[0]) >= _NAMES_HEADERS_SINCE:
        return ()
    return tuple(word for header in _HEADERS for word in ("-include", header))


def bench_sources(tree: Path) -> list[Path]:
    """List the files of db_bench without the library, relative to the tree."""
    makefile = tree / "src.mk"
    if not makefile.is_file():
        raise BuildError("the source tree has no src.mk, which lists the files of db_bench")
    text = makefile.read_text(encoding="utf-8").replace("\\\n", " ")
    match = re.search(r"^BENCH_LIB_SOURCES\s*=(.*)$", text, re.MULTILINE)
    names = [*(match[1].split() if match else ()), *_ALWAYS]
    paths = [name if (tree / name).is_file() else _OLDER_PATHS.get(name, name) for name in names]
    missing = [name for name in paths if not (tree / name).is_file()]
    if missing or not match:
        raise BuildError(f"the source tree lacks {', '.join(missing) or 'a list of the files of db_bench'}")
    return [Path(name) for name in paths]


class Capabilities(NamedTuple):
    """Version and compressions of the library in a db_bench, asked of the program and not of the build system."""

    version: str | None
    compressions: list[Json]  # sorted


_ALGORITHMS = frozenset({"snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd", "xpress"})


def probe(order: Order, argv: Sequence[str]) -> Capabilities:
    folder = order.folder / "probe"
    load = ("--benchmarks=fillseq", "--num=10", "--compression_type=none", f"--db={folder}")
    process = order.commands.run([*absolute(order.folder, argv), *load], 60.0, cwd=order.folder)
    log = folder / "LOG"
    if process.status or not log.is_file():
        lines = (process.stderr or process.stdout).strip().splitlines()
        raise BuildError(f"the new db_bench does not run: {lines[-1] if lines else f'exit status {process.status}'}")
    text = log.read_text(encoding="utf-8", errors="replace")
    shutil.rmtree(folder)
    version = re.search(r"RocksDB version: (\d+(?:\.\d+)+)", text)
    return Capabilities(version[1] if version else None, [*supported_compressions(text)])


def supported_compressions(log: str) -> list[str]:
    """Read lines of a database's LOG: `kZSTD supported: 1`, in old ones `Snappy supported: 1`."""
    names = re.findall(r"^(?:.*\s)?k?(\w+?)(?:Compression)? supported: 1\s*$", log, re.MULTILINE)
    return sorted({name.lower() for name in names if name != "ZSTDNotFinal"} & _ALGORITHMS)
