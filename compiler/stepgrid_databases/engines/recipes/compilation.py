"""Compiles: tools and flags, headers of a distribution, a tree, and the programs that stay of it."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid.build.apt import fetch_suite, missing_tools, unpack_packages
from stepgrid.build.elf import SWITCHES, read_elf
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact, Material, Order, require
from stepgrid.host.files import sha256
from stepgrid.language.flags import Flags, read_flags
from stepgrid.model.plan import Json

PREFIX = "prefix"  # below the build's folder: what a build system installed
PROGRAMS, LIBRARIES = "bin", "lib"  # likewise: single programs and their libraries
RPATH = f"$ORIGIN/../{LIBRARIES}"  # a program of bin/ finds them wherever the build's folder is
# RPATH in the environment, since each build system quotes a `$` in its own way
RUN_PATH = {"LD_RUN_PATH": RPATH}
SYSTEM = "system"  # instead of a suite: the libraries that are installed on the machine
COMPILERS = ("cc", "c++")  # unless a build's flags name others
FOLDER_MAP = "-ffile-prefix-map"
CMAKE_TOOLS = ("cmake", "ninja")

_COMPILE_SECONDS = 12 * 3600.0
_VERSION_SECONDS = 30.0
_STRIP_SECONDS = 300.0
_DATE = "946684800"  # 2000-01-01: a compile's date must not make two binaries of one tree


class Compile(Struct, frozen=True):
    """A tree, and all that it is compiled with."""

    order: Order
    tree: Path
    flags: Flags
    tools: Toolchain
    devel: Development

    @property
    def code(self) -> tuple[str, ...]:
        return code_flags(self.order, self.flags)

    @property
    def parallel(self) -> tuple[str, str]:
        return f"-j{self.order.jobs}", f"-l{self.order.jobs + 1}"

    @property
    def search(self) -> dict[str, str]:
        """Variables by which compilers look first into the fetched headers, for builds in many folders."""
        folder = self.devel.folder
        return {"CPATH": f"{folder}/include", "LIBRARY_PATH": f"{folder}/lib"} if folder else {}

    def run(
        self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None, fault: str = ""
    ) -> None:
        """Run a step of the compile; `fault` is the message when it fails."""
        variables = {**self.tools.environment, **(environment or {}), **self.flags.environment}
        if self.order.commands.compile(argv, _COMPILE_SECONDS, cwd=cwd, env=variables):
            raise BuildError(fault or f"{Path(argv[0]).name} failed; the end of the log says where")


def prepare(order: Order, material: Material, mark: str, packages: Sequence[str], *tools: str) -> Compile:
    """Collect all that a tree is compiled with.

    `mark`: a file by which a tree of the engine is known; `packages`: headers and libraries that it wants.
    """
    if material.tree is None:
        raise BuildError(f"the source brings no tree to compile {order.build.engine} from")
    flags = read_flags(order.build.recipe)
    toolchain = find_toolchain(order, flags, *tools)  # before anything is fetched: a missing tool is an early error
    tree = tree_root(material.tree, mark, order.build.engine)
    return Compile(order, tree, flags, toolchain, development(order, packages, flags.libraries))


def tree_root(folder: Path, mark: str, engine: str) -> Path:
    """Return the folder of the tree, which an archive or a crate may hold in a folder of its own."""
    marks = [path for prefix in ("", "*/", "*/*/") for path in sorted(folder.glob(f"{prefix}{mark}"))]
    if not marks:
        raise BuildError(f"this is no source tree of {engine}: it has no {mark}")
    return marks[0].parents[mark.count("/")]


class Toolchain(Struct, frozen=True):
    """The compilers and build programs of this machine, by absolute paths."""

    cc: str
    cxx: str
    tools: Mapping[str, str]
    ccache: str | None
    versions: Mapping[str, str]
    environment: Mapping[str, str]

    def __getitem__(self, tool: str) -> str:
        return self.tools[tool]

    @property
    def launched_cc(self) -> str:
        """The C compiler for a make that takes `CC="ccache cc"`."""
        return f"{self.ccache} {self.cc}" if self.ccache else self.cc

    @property
    def launched_cxx(self) -> str:
        return f"{self.ccache} {self.cxx}" if self.ccache else self.cxx

    @property
    def cmake_launcher(self) -> tuple[str, ...]:
        if self.ccache is None:
            return ()
        return tuple(f"-DCMAKE_{language}_COMPILER_LAUNCHER={self.ccache}" for language in ("C", "CXX"))

    def facts(self) -> dict[str, Json]:
        return {"toolchain": dict(self.versions)}


def find_toolchain(order: Order, flags: Flags, *tools: str) -> Toolchain:
    """Find the compilers and these programs; a BuildError names the first that is missing."""
    cc, cxx = (require(order, name) for name in (flags.cc or "cc", flags.cxx or "c++"))
    paths = {name: require(order, name) for name in tools if name not in COMPILERS}
    environment = {"LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": _DATE}
    programs = {"cc": cc, "c++": cxx, **paths}
    ccache = shutil.which(order.site.tool("ccache"))
    if ccache:
        programs["ccache"] = ccache
        # each attempt has a folder of its own: its name must not be a reason to compile again
        environment |= {"CCACHE_BASEDIR": str(order.folder.absolute()), "CCACHE_NOHASHDIR": "1"}
    versions: dict[str, str] = {}
    for name, path in programs.items():
        result = order.commands.run([path, "--version"], _VERSION_SECONDS, quiet=True)
        lines = (result.stdout or result.stderr).strip().splitlines()
        versions[name] = lines[0].strip() if lines and not result.status else "unknown"
    return Toolchain(cc, cxx, paths, ccache, versions, {**environment, **flags.environment})


def code_flags(order: Order, flags: Flags) -> tuple[str, ...]:
    """Return flags for every compile: its options stay readable in the binary, and its folder does not.

    `-frecord-gcc-switches` lets the finished binary say its -march and its -O, whatever the build system added.
    """
    march = (f"-march={flags.march}",) if flags.march else ()
    return ("-frecord-gcc-switches", f"{FOLDER_MAP}={order.folder.absolute()}=.", *march)


# cmake: what it is told of tools and flags, and what it made of them.


def cmake_build_type(compiled: Compile) -> str:
    return compiled.flags.type or "Release"


def configure_cmake(
    compiled: Compile, target: Path, settings: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> None:
    """Configure a build by ninja; `settings` are variables of the engine's recipe, and those of the spec come last."""
    flags, tools, devel = compiled.flags, compiled.tools, compiled.devel.folder
    variables = {
        "CMAKE_BUILD_TYPE": cmake_build_type(compiled),
        "CMAKE_MAKE_PROGRAM": tools["ninja"],
        "CMAKE_C_COMPILER": tools.cc,
        "CMAKE_CXX_COMPILER": tools.cxx,
        "CMAKE_C_FLAGS": shlex.join((*compiled.code, *flags.cflags)),
        "CMAKE_CXX_FLAGS": shlex.join((*compiled.code, *flags.cxxflags)),
        "CMAKE_EXE_LINKER_FLAGS": shlex.join(flags.ldflags),
        **({"CMAKE_PREFIX_PATH": str(devel)} if devel else {}),
        **settings,
        **flags.variables,
    }
    options = [*tools.cmake_launcher, *(f"-D{name}={value}" for name, value in variables.items())]
    argv = [tools["cmake"], "-S", str(compiled.tree), "-B", str(target), "-G", "Ninja", *options]
    compiled.run(argv, compiled.order.folder, environment)


def cmake_settings(target: Path, names: re.Pattern[str]) -> dict[str, Json]:
    """Return the final values of the variables that decide what was compiled."""
    text = (target / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    variables: list[tuple[str, str]] = re.findall(r"^(\w+):\w+=(.*)$", text, re.MULTILINE)
    return {"configured": {name: value for name, value in variables if names.match(name)}}


# Development packages: headers and static libraries of a distribution, unpacked beside the tree, not installed.


class Development(Struct, frozen=True):
    folder: Path | None  # with include/ and lib/; None: the compilers find what is installed
    artifacts: tuple[Artifact, ...] = ()

    def search(self, cwd: Path) -> dict[str, str]:
        """Return variables by which compilers and linkers look there first.

        Relative to the folder in which they run: ccache takes the variables for a part of what it compiles.
        """
        if self.folder is None:
            return {}
        paths = {"CPATH": self.folder / "include", "LIBRARY_PATH": self.folder / "lib"}
        return {name: os.path.relpath(path, cwd) for name, path in paths.items()}


def development(order: Order, packages: Sequence[str], suite: str | None = None) -> Development:
    """Unpack packages of a suite, by default this machine's; use installed ones where it is no Debian or on demand."""
    chosen = suite or host_suite()
    if chosen is None or chosen == SYSTEM or missing_tools():
        order.commands.note(f"of the machine itself: {', '.join(packages)}")
        return Development(None)
    folder = order.folder / "devel"
    folder.mkdir()
    apt = fetch_suite(folder / "apt", order.commands, chosen)
    files = [apt.download_alone(package, chosen) for package in packages]
    names = [file.stem.split("_") for file in files]
    artifacts = [
        Artifact(name, version.replace("%3a", ":"), sha256(file))
        for (name, version, _), file in zip(names, files, strict=True)
    ]
    unpack_packages(files, folder / "prefix", order.commands)
    _copy_headers_and_libraries(folder / "prefix" / "usr", folder)
    for temporary in (apt.folder, folder / "prefix"):
        shutil.rmtree(temporary)
    for file in files:
        file.unlink()
    return Development(folder, tuple(artifacts))


def host_suite() -> str | None:
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME") or None
    except OSError:
        return None


def _copy_headers_and_libraries(prefix: Path, folder: Path) -> None:
    """Copy static libraries only: a build must not need what the machine that runs it lacks."""
    shutil.copytree(prefix / "include", folder / "include")
    for headers in sorted((folder / "include").glob("*-linux-*")):
        shutil.copytree(headers, folder / "include", dirs_exist_ok=True)
        shutil.rmtree(headers)
    (folder / "lib").mkdir()
    for pattern in ("lib/*-linux-*/*.a", "lib/*.a"):
        for archive in sorted(prefix.glob(pattern)):
            shutil.copy2(archive, folder / "lib" / archive.name)


# Products: programs and the shared libraries that they bring stay, nothing else does.


class PrunedPrograms(Struct, frozen=True):
    programs: Mapping[str, tuple[str, ...]]  # argv prefixes, relative to the build's folder
    stripped: bool
    bytes: int

    def facts(self) -> dict[str, Json]:
        return {"stripped": self.stripped, "bytes": self.bytes}


def keep_programs(
    order: Order, programs: Mapping[str, Path], libraries: Iterable[Path] = (), strip_libraries: bool = True
) -> PrunedPrograms:
    """Move programs to bin/ and libraries to lib/ of the build's folder, and remove all else."""
    homes = {name: _move(order, path, order.folder / PROGRAMS / name) for name, path in programs.items()}
    shared = [_move(order, path, order.folder / LIBRARIES / path.name) for path in libraries]
    files = [*homes.values(), *shared]
    stripped = strip(order, files if strip_libraries else homes.values())
    prune(order, (PROGRAMS, LIBRARIES))
    argv = {name: (str(path.relative_to(order.folder)),) for name, path in homes.items()}
    return PrunedPrograms(argv, stripped, sum(path.stat().st_size for path in files))


def move_installed(compiled: Compile, staged: Path, names: Iterable[str]) -> Path:
    """Move these entries of a staging folder into the build, without symbols and static libraries."""
    prefix = compiled.order.folder / PREFIX
    shutil.move(staged, prefix)
    prune(compiled.order, names, prefix)
    for archive in prefix.rglob("*.a"):
        archive.unlink()
    files = [path for path in prefix.rglob("*") if path.is_file() and not path.is_symlink()]
    if elves := [path for path in files if read_elf(path) is not None]:
        strip(compiled.order, elves)
    return prefix


def strip(order: Order, files: Iterable[Path]) -> bool:
    """Strip symbols and tell whether it was done; without binutils the files stay large, and work as well."""
    program = shutil.which(order.site.tool("strip"))
    if program is None:
        order.commands.note("there is no program strip (Debian package binutils): the symbols stay")
        return False
    argv = [program, "--strip-unneeded", f"--remove-section={SWITCHES}", *map(str, files)]
    result = order.commands.run(argv, _STRIP_SECONDS)
    if result.status:
        raise BuildError(f"strip failed: {result.stderr.strip()}")
    return True


def prune(order: Order, names: Iterable[str], folder: Path | None = None) -> None:
    """Remove all of a build's folder, or of one below it, but these entries and its log."""
    lasting = {*names, order.commands.log.name}
    for entry in (folder or order.folder).iterdir():
        if entry.name in lasting:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _move(order: Order, path: Path, home: Path) -> Path:
    if not path.is_file():
        raise BuildError(f"the compile ended well and left no {path.relative_to(order.folder)}")
    if home.exists():
        return home  # in place already
    home.parent.mkdir(exist_ok=True)
    return Path(shutil.move(path.resolve(), home))
