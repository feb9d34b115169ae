"""Compiles db_bench, and only it, against an official library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.build import slim
from compiler.build.devel import development
from compiler.build.flags import Flags
from compiler.build.order import Order
from compiler.build.problem import BuildError
from compiler.build.recipes import rocksdb_tree
from compiler.build.recipes.gflags import compile_gflags
from compiler.build.recipes.official import Library
from compiler.build.sources.protocol import Artifact
from compiler.build.toolchain import Toolchain, code_flags

_SECONDS = 1800.0
_PACKAGES = ("libsnappy-dev", "liblz4-dev", "libzstd-dev", "zlib1g-dev", "libbz2-dev", "libgflags-dev")
# as a release build of the tree has them on Linux
_PLATFORM = (
    "ROCKSDB_PLATFORM_POSIX",
    "ROCKSDB_LIB_IO_POSIX",
    "OS_LINUX",
    "ROCKSDB_FALLOCATE_PRESENT",
    "ROCKSDB_MALLOC_USABLE_SIZE",
    "ROCKSDB_PTHREAD_ADAPTIVE_MUTEX",
    "ROCKSDB_BACKTRACE",
    "ROCKSDB_RANGESYNC_PRESENT",
    "ROCKSDB_SCHED_GETCPU_PRESENT",
    "ROCKSDB_AUXV_GETAUXVAL_PRESENT",
    "ROCKSDB_SUPPORT_THREAD_LOCAL",  # 6.x asks for it
    "GFLAGS=1",
)


@dataclass(frozen=True, slots=True)
class Bench:
    program: Path
    standard: str
    artifacts: tuple[Artifact, ...]


def compile_bench(order: Order, tools: Toolchain, flags: Flags, tree: Path, library: Library) -> Bench:
    abi = ("-D_GLIBCXX_USE_CXX11_ABI=0",) if library.old_abi else ()
    code = (*code_flags(order, flags), *abi)
    devel = development(order, _PACKAGES, flags.libraries)
    gflags, artifacts = compile_gflags(order, tools, code) if library.old_abi else (devel.folder, ())
    environment = {**tools.environment, **devel.search(tree)}
    standard = rocksdb_tree.standard(tree)
    places = [gflags / "include"] if gflags else []
    argv = [tools.cxx, f"-std={standard}", *_options(flags, library), *code, *flags.cxxflags]
    argv += [f"-I{place}" for place in (*places, ".", "include")]

    def run(words: Sequence[str], what: str) -> None:
        if order.commands.compile(words, _SECONDS, cwd=tree, env=environment):
            raise BuildError(f"{what} could not be compiled against {library.path.name}")

    objects = []
    for number, source in enumerate(rocksdb_tree.bench_sources(tree)):
        objects.append(str(order.folder / f"{number}.o"))
        launcher = [tools.ccache] if tools.ccache else []
        run([*launcher, *argv, "-c", str(source), "-o", objects[-1]], str(source))
    program = order.folder / "db_bench"
    run([tools.cxx, *objects, *_link(library, gflags), *flags.ldflags, "-o", str(program)], "db_bench")
    return Bench(program, standard, (*devel.artifacts, *artifacts))


def _options(flags: Flags, library: Library) -> list[str]:
    assertions = [] if flags.assertions else ["-DNDEBUG"]
    rtti = [] if library.rtti else ["-fno-rtti"]
    return ["-O2", "-w", *assertions, *rtti, *(f"-D{macro}" for macro in (*_PLATFORM, *library.macros))]


def _link(library: Library, gflags: Path | None) -> list[str]:
    """By its name alone: the library has no soname, so that a path would be written into the program."""
    found = [f"-L{library.path.parent}", f"-l:{library.path.name}", f"-Wl,-rpath,{slim.RPATH}"]
    return [*found, str(gflags / "lib" / "libgflags.a") if gflags else "-lgflags", "-lpthread", "-ldl"]
