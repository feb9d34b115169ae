"""Compiles db_bench, and only it, against an official library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    code = (*code_flags(order, flags), *(("-D_GLIBCXX_USE_CXX11_ABI=0",) if library.old_abi else ()))
    devel = development(order, _PACKAGES, flags.libraries)
    gflags, artifacts = compile_gflags(order, tools, code) if library.old_abi else (devel.folder, ())
    work = _Work(order, tools, flags, tree, library, gflags, {**tools.environment, **devel.search(tree)})
    standard = rocksdb_tree.standard(tree)
    objects = work.objects([f"-std={standard}", *code])
    return Bench(work.program(objects), standard, (*devel.artifacts, *artifacts))


@dataclass(frozen=True, slots=True)
class _Work:
    order: Order
    tools: Toolchain
    flags: Flags
    tree: Path
    library: Library
    gflags: Path | None  # its include/ and lib/; None: the machine's own
    environment: Mapping[str, str]

    def objects(self, code: Sequence[str]) -> list[str]:
        launcher = [self.tools.ccache] if self.tools.ccache else []
        places = [*([str(self.gflags / "include")] if self.gflags else []), ".", "include"]
        added = [*rocksdb_tree.forgotten(self.tree), *self.flags.cxxflags, *(f"-I{place}" for place in places)]
        argv = [*launcher, self.tools.cxx, *code, *_options(self.flags, self.library), *added]
        sources = rocksdb_tree.bench_sources(self.tree)
        objects = [str(self.order.folder / f"{number}.o") for number in range(len(sources))]
        for source, made in zip(sources, objects, strict=True):
            self._run([*argv, "-c", str(source), "-o", made], str(source))
        return objects

    def program(self, objects: Sequence[str]) -> Path:
        program = self.order.folder / "db_bench"
        linked = [*objects, *_link(self.library, self.gflags), *self.flags.ldflags]
        self._run([self.tools.cxx, *linked, "-o", str(program)], program.name)
        return program

    def _run(self, argv: Sequence[str], what: str) -> None:
        if self.order.commands.compile(argv, _SECONDS, cwd=self.tree, env=self.environment):
            raise BuildError(f"{what} could not be compiled against {self.library.path.name}")


def _options(flags: Flags, library: Library) -> list[str]:
    assertions = [] if flags.assertions else ["-DNDEBUG"]
    rtti = [] if library.rtti else ["-fno-rtti"]
    return ["-O2", "-w", *assertions, *rtti, *(f"-D{macro}" for macro in (*_PLATFORM, *library.macros))]


def _link(library: Library, gflags: Path | None) -> list[str]:
    """By its name alone: the library has no soname, so that a path would be written into the program."""
    found = [f"-L{library.path.parent}", f"-l:{library.path.name}", f"-Wl,-rpath,{slim.RPATH}"]
    return [*found, str(gflags / "lib" / "libgflags.a") if gflags else "-lgflags", "-lpthread", "-ldl"]
