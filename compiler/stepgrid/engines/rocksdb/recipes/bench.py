"""Compiles db_bench, and only it, against an official library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepgrid.build.compilation import pruning
from stepgrid.build.compilation.source_build import Compile
from stepgrid.build.error import BuildError
from stepgrid.build.source import Artifact
from stepgrid.build.sources import source_of
from stepgrid.engines.rocksdb.recipes import source_tree
from stepgrid.engines.rocksdb.recipes.official_library import Library
from stepgrid.language.builds.flags import Flags
from stepgrid.model.plan import Json

OLD_ABI = "-D_GLIBCXX_USE_CXX11_ABI=0"
# as a release build of the tree has them on Linux
_PLATFORM = (
    "ROCKSDB_PLATFORM_POSIX", "ROCKSDB_LIB_IO_POSIX", "OS_LINUX", "ROCKSDB_FALLOCATE_PRESENT",
    "ROCKSDB_MALLOC_USABLE_SIZE", "ROCKSDB_PTHREAD_ADAPTIVE_MUTEX", "ROCKSDB_BACKTRACE", "ROCKSDB_RANGESYNC_PRESENT",
    "ROCKSDB_SCHED_GETCPU_PRESENT", "ROCKSDB_AUXV_GETAUXVAL_PRESENT", "GFLAGS=1",
    "ROCKSDB_SUPPORT_THREAD_LOCAL",  # 6.x asks for it
)  # fmt: skip
# In the old ABI no distribution has it
_GFLAGS: Mapping[str, Json] = {"debian-source": "gflags", "suite": "bookworm"}
_GFLAGS_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_STATIC_LIBS=ON", "-DBUILD_gflags_LIB=ON",
    "-DBUILD_gflags_nothreads_LIB=OFF", "-DBUILD_TESTING=OFF", "-DREGISTER_BUILD_DIR=OFF",
    "-DREGISTER_INSTALL_PREFIX=OFF",  # else it writes into the user's home
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bench:
    program: Path
    standard: str
    artifacts: tuple[Artifact, ...]


def compile_bench(compiled: Compile, library: Library) -> Bench:
    gflags, artifacts = _gflags(compiled) if library.old_abi else (compiled.devel.folder, ())
    standard = source_tree.standard(compiled.tree)
    work = _Work(compiled, library, gflags)
    objects = work.objects([f"-std={standard}", *([OLD_ABI] if library.old_abi else [])])
    return Bench(work.program(objects), standard, (*compiled.devel.artifacts, *artifacts))


@dataclass(frozen=True, slots=True)
class _Work:
    compiled: Compile
    library: Library
    gflags: Path | None  # its include/ and lib/; None: the machine's own

    def objects(self, code: Sequence[str]) -> list[str]:
        tools, tree = self.compiled.tools, self.compiled.tree
        places = [*([str(self.gflags / "include")] if self.gflags else []), ".", "include"]
        added = [*source_tree.forgotten(tree), *self.compiled.flags.cxxflags, *(f"-I{place}" for place in places)]
        launcher = [tools.ccache] if tools.ccache else []
        own = _options(self.compiled.flags, self.library)
        argv = [*launcher, tools.cxx, *code, *self.compiled.code, *own, *added]
        sources = source_tree.bench_sources(tree)
        objects = [str(self.compiled.order.folder / f"{number}.o") for number in range(len(sources))]
        for source, made in zip(sources, objects, strict=True):
            self._run([*argv, "-c", str(source), "-o", made], str(source))
        return objects

    def program(self, objects: Sequence[str]) -> Path:
        program = self.compiled.order.folder / "db_bench"
        linked = [*objects, *_link(self.library, self.gflags), *self.compiled.flags.ldflags]
        self._run([self.compiled.tools.cxx, *linked, "-o", str(program)], program.name)
        return program

    def _run(self, argv: Sequence[str], what: str) -> None:
        tree = self.compiled.tree
        fault = f"{what} could not be compiled against {self.library.path.name}"
        self.compiled.run(argv, tree, self.compiled.devel.search(tree), fault)


def _options(flags: Flags, library: Library) -> list[str]:
    assertions = [] if flags.assertions else ["-DNDEBUG"]
    rtti = [] if library.rtti else ["-fno-rtti"]
    return ["-O2", "-w", *assertions, *rtti, *(f"-D{macro}" for macro in (*_PLATFORM, *library.macros))]


def _link(library: Library, gflags: Path | None) -> list[str]:
    """By its name alone: the library has no soname, so that a path would be written into the program."""
    found = [f"-L{library.path.parent}", f"-l:{library.path.name}", f"-Wl,-rpath,{pruning.RPATH}"]
    return [*found, str(gflags / "lib" / "libgflags.a") if gflags else "-lgflags", "-lpthread", "-ldl"]


def _gflags(compiled: Compile) -> tuple[Path, tuple[Artifact, ...]]:
    """Which db_bench reads its options with, compiled in the old ABI: the folder with include/ and lib/libgflags.a."""
    order, tools = compiled.order, compiled.tools
    folder, home = order.folder / "gflags", order.folder / "gflags-made"
    folder.mkdir()
    material = source_of(_GFLAGS).fetch(_GFLAGS, folder, order)
    if material.tree is None:
        raise BuildError("the source package of gflags holds no source tree")
    compilers = (f"-DCMAKE_C_COMPILER={tools.cc}", f"-DCMAKE_CXX_COMPILER={tools.cxx}", *tools.cmake_launcher)
    flags = f"-DCMAKE_CXX_FLAGS={' '.join((*compiled.code, OLD_ABI))}"
    places = ("-S", str(material.tree), "-B", str(folder / "made"), f"-DCMAKE_INSTALL_PREFIX={home}")
    for argv in (
        (*places, *_GFLAGS_OPTIONS, *compilers, flags),
        ("--build", str(folder / "made"), "--target", "install"),
    ):
        compiled.run([tools["cmake"], *argv], folder, fault="gflags, which db_bench needs, could not be compiled")
    return home, material.artifacts
