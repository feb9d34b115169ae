"""Programs that are there already, on the machine or unpacked in a prefix: made startable wherever the build is.

Programs of packages are started by their own loader, with the build's libraries and none of the host's.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.apt import missing_tools
from stepgrid.build.commands import Commands
from stepgrid.build.elf import published_codegen, read_elf
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import (
    Artifact,
    BuiltPrograms,
    ExtensibleEngine,
    InstalledPrograms,
    Material,
    Order,
    PackagedEngine,
    Recipe,
    RecipeProvider,
    source_of,
)
from stepgrid.build.record import absolute
from stepgrid.language.requirements import PYTHON
from stepgrid.language.sources import READY, REQUIREMENTS, source_kind
from stepgrid.model.plan import Json, PlannedBuild, runs_already
from stepgrid.plugins.engine import Built, Engine

PACKED = ("debian", "maven", "pypi")  # kinds of sources that bring servers
LIBRARY_FOLDER = "system"  # below the build's folder: libraries of packages

_LIST_SECONDS = 60.0
_REAL = ".real"  # what a program's name ends with once a script stands in its place
_BUILD = "$build"  # in a script: the build's folder, as it is when the program is started
_PROGRAM_FOLDERS = ("usr/bin", "usr/sbin", "usr/local/bin", "usr/libexec", "usr/lib/*/bin", "usr/lib/*/*/bin")
_START_PYTHON = """\
#!/bin/sh
build=$(CDPATH= cd -- "${{0%/*}}" && pwd -P) || exit 127
PYTHONPATH="$build/{folder}" && export PYTHONPATH
exec {python} "$@"
"""
_SERVER_FOLDERS = ("bin", "sbin", "libexec")
# what came along for the scripts of packages: no program of a build needs it
_UNUSED = (
    "etc", "var", "usr/include", "usr/lib/python3*", "usr/lib/systemd", "usr/lib/*/perl*", "usr/lib/*/systemd",
    "usr/share/i18n", "usr/share/perl*", "usr/share/python3*",
)  # fmt: skip


def recipe_of(build: PlannedBuild, engine: Engine) -> Recipe | None:
    """Return the recipe that makes a build: one for ready programs, or one that its engine brings."""
    packed: tuple[Recipe, ...] = (ServerPrefix(),) if isinstance(engine, PackagedEngine) else ()
    brought = engine.recipes() if isinstance(engine, RecipeProvider) else ()
    return next(
        (recipe for recipe in (*packed, Ready(), Running(), *brought, PythonPackages()) if recipe.takes(build)), None
    )


class Ready:
    """The recipe for programs of the machine, or of packages that were unpacked."""

    name, tools = "ready", ()

    def takes(self, build: PlannedBuild) -> bool:
        return any(kind in build.source for kind in READY)

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        if material.prefix is None:
            return BuiltPrograms({name: (str(path),) for name, path in material.programs.items()})
        package = source_of(order.build.source).describe(order.build.source)
        paths = find_programs(material.prefix, order.programs, package)
        return BuiltPrograms({name: start_argv(order.folder, path, order.commands) for name, path in paths.items()})


class Running:
    """The recipe for a server that already runs: there is nothing to make."""

    name, tools = "running", ()

    def takes(self, build: PlannedBuild) -> bool:
        return runs_already(build.source)

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        return BuiltPrograms({})


class PythonPackages:
    """The recipe of engines whose program is Python: with the package of a wheel, or an environment of libraries."""

    name, tools = "python", ()

    def takes(self, build: PlannedBuild) -> bool:
        return source_kind(build.source) in ("pypi", REQUIREMENTS)

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        package = source_of(order.build.source).describe(order.build.source)
        if material.prefix is None:
            raise BuildError(f"{package} is a source archive, of which nothing is run: add `kind: wheel`")
        if order.programs != (PYTHON,):
            raise _missing_program(next(name for name in order.programs if name != PYTHON), (PYTHON,), package)
        python = material.prefix / "bin" / PYTHON
        if REQUIREMENTS not in order.build.source:
            host, python = shutil.which(order.site.tools.get(PYTHON, sys.executable)), order.folder / PYTHON
            folder = material.prefix.relative_to(order.folder)
            python.write_text(_START_PYTHON.format(folder=folder, python=shlex.quote(host or sys.executable)))
            python.chmod(0o755)
        return BuiltPrograms({PYTHON: (str(python.relative_to(order.folder)),)})


class ServerPrefix:
    """The recipe for servers in packages, jars or wheels."""

    name, tools = "server", ()

    def takes(self, build: PlannedBuild) -> bool:
        return source_kind(build.source) in PACKED

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        prefix, from_suite = material.prefix, "debian" in order.build.source
        assert prefix is not None
        package = source_of(order.build.source).describe(order.build.source)
        if order.build.recipe.get("flags"):
            raise BuildError(f"{package} is compiled already: no `flags` for it; leave them out, or build from source")
        programs = find_server_programs(prefix, order.engine, package)
        extensions = order.engine.extend(order, prefix, package) if isinstance(order.engine, ExtensibleEngine) else {}
        quality = {} if from_suite else published_codegen(programs[order.engine.programs[0]])
        wanted = _installed(order.engine).libraries
        libraries = SharedLibraries("prefix") if from_suite else SharedLibraries(None)
        if not from_suite and wanted is not None and not missing_tools():
            libraries = fetch_libraries(order, wanted)
        if from_suite:
            _remove_unused(prefix, programs.values())
        server = make_startable(order, programs, libraries.system)
        return BuiltPrograms(
            server.programs,
            quality={**quality, **extensions},
            artifacts=libraries.artifacts,
            facts={**server.facts, **extensions},
        )


def _remove_unused(prefix: Path, programs: Iterable[Path]) -> None:
    needed = {*programs, *(path.resolve() for path in programs)}
    for folder in {path.parent for path in needed} | {prefix / "usr/bin", prefix / "usr/sbin"}:
        for path in folder.iterdir() if folder.is_dir() else ():
            if path not in needed and not path.is_dir():
                path.unlink()
    for pattern in _UNUSED:
        for path in prefix.glob(pattern):
            shutil.rmtree(path)


class SharedLibraries(NamedTuple):
    """System libraries that ready server binaries are started with: a package's are its suite's own."""

    system: str | None  # the prefix below the build's folder that holds them; None: the machine's
    artifacts: tuple[Artifact, ...] = ()


def fetch_libraries(order: Order, source: Mapping[str, Json]) -> SharedLibraries:
    """Fetch packages of a suite with what they depend on, the loader too; only their libraries stay."""
    folder = order.folder / LIBRARY_FOLDER
    folder.mkdir()
    material = source_of(source).fetch(source, folder, order)
    assert material.prefix is not None
    for path in (*folder.glob("prefix/usr/*"), *folder.glob("prefix/etc"), *folder.glob("prefix/var")):
        if not path.name.startswith("lib"):
            shutil.rmtree(path)
    return SharedLibraries(str(material.prefix.relative_to(order.folder)), material.artifacts)


# Programs in a prefix: where they are, and the argv that starts them.


def find_programs(prefix: Path, names: Sequence[str], package: str) -> dict[str, Path]:
    programs = {path.name: path for folder in reversed(_PROGRAM_FOLDERS) for path in sorted(prefix.glob(f"{folder}/*"))}
    for name in names:
        if name not in programs:
            raise _missing_program(name, programs, package)
    return {name: programs[name] for name in names}


def find_server_programs(prefix: Path, engine: Built, package: str) -> dict[str, Path]:
    """Find programs by name, first in the server's own folder: elsewhere a name may be that of a wrapper."""
    installed = _installed(engine)
    spellings = {name: (name, installed.older_names.get(name, name)) for name in (*engine.programs, *installed.clients)}

    def find(name: str, folders: Iterable[Path]) -> Path | None:
        paths = (folder / spelling for spelling in spellings[name] for folder in folders)
        return next((path for path in paths if path.is_file()), None)

    folders = sorted(_server_folders(prefix), key=lambda folder: find(engine.programs[0], [folder]) is None)
    programs = {name: path for name in spellings if (path := find(name, folders))}
    for name in engine.programs:
        if name not in programs:
            raise _missing_program(name, {path.name for folder in folders for path in folder.iterdir()}, package)
    return programs


def _server_folders(prefix: Path) -> Iterator[Path]:
    root = prefix.resolve()
    folders = [path for name in _SERVER_FOLDERS for path in sorted(prefix.rglob(name)) if path.is_dir()]
    for folder in dict.fromkeys(path.resolve() for path in folders):
        if folder.is_relative_to(root):
            yield prefix / folder.relative_to(root)


def _installed(engine: Built) -> InstalledPrograms:
    return engine.installed() if isinstance(engine, PackagedEngine) else InstalledPrograms()


def _missing_program(name: str, programs: Iterable[str], package: str) -> BuildError:
    return BuildError(f"{package} has no program {name}; its programs are: {', '.join(sorted(programs)) or 'none'}")


def start_argv(folder: Path, program: Path, commands: Commands, system: str = "prefix") -> tuple[str, ...]:
    """Return the argv prefix that starts a program with the build's libraries and none of the host's.

    `system`: the prefix below the folder that holds the loader and the libraries. Paths are relative to the folder.
    """
    relative = str(program.relative_to(folder))
    elf = read_elf(program)
    if elf is None or elf.interpreter is None:
        return (relative,)  # a script, or static
    prefix = folder / system
    loader = prefix / elf.interpreter.lstrip("/")
    if not loader.exists():
        raise BuildError(f"the packages hold no loader {elf.interpreter}: they lack their libc")
    loader = prefix / loader.resolve().relative_to(prefix.resolve())
    libraries = ":".join(str(path.relative_to(folder)) for path in library_folders(prefix))
    start = (str(loader.relative_to(folder)), "--inhibit-cache", "--library-path", libraries)
    _check_libraries(absolute(folder, start), program, folder, commands)
    return (*start, relative)


def library_folders(prefix: Path) -> list[Path]:
    """List the multiarch folder first, as in a loader's own search path; last those that packages keep to themselves.

    A library names such a folder by its path on a host, which is not where the prefix is.
    """
    shared = [*sorted(prefix.glob("usr/lib/*-linux-*")), prefix / "usr" / "lib"]
    private = [folder for folder in sorted(prefix.glob("usr/lib/*-linux-*/*/")) if any(folder.glob("lib*.so.*"))]
    return [*(folder for folder in shared if any(folder.glob("*.so*"))), *private]


def _check_libraries(start: Sequence[str], program: Path, folder: Path, commands: Commands) -> None:
    """Let the loader list what it would load: all of it must come from the build."""
    result = commands.run([*start, "--list", str(program.absolute())], _LIST_SECONDS)
    missing = re.findall(r"(?<!\S)(\S++) => not found", result.stdout)
    paths = re.findall(r"=> (/.*) \(0x", result.stdout)
    foreign = [path for path in paths if not Path(path).is_relative_to(folder.absolute())]
    if result.status or missing or foreign:
        problem = f"would load {', '.join(foreign)}" if foreign else "cannot load it"
        problem = f"lacks {', '.join(missing)}" if missing else problem
        raise BuildError(f"{program.name} cannot be started from its packages: their loader {problem}")


# Scripts in the place of programs. One that is started through a foreign loader starts others by their paths (initdb:
# postgres), which the host's own loader would run with the host's libraries; a script keeps them in the build.


class ServerPrograms(NamedTuple):
    programs: dict[str, tuple[str, ...]]  # argv prefixes, relative to the build's folder
    facts: dict[str, Json]  # where its files are, likewise


def make_startable(order: Order, programs: Mapping[str, Path], system: str | None = None) -> ServerPrograms:
    """Tell programs where their files are, and start them with the loader and libraries of the prefix `system`."""
    base = programs[order.engine.programs[0]].parent.parent  # of its bin or sbin folder
    libraries = order.folder / system / "usr" if system else base
    folders = list(_installed(order.engine).search_folders(base, libraries))
    facts: dict[str, Json] = {folder.fact: str(folder.path.relative_to(order.folder)) for folder in folders}
    variables = {
        folder.variable: folder.value.format(f"{_BUILD}/{facts[folder.fact]}") for folder in folders if folder.variable
    }
    argv: dict[str, tuple[str, ...]] = {}
    for name, program in programs.items():
        if system is None and not variables:
            argv[name] = (str(program.relative_to(order.folder)),)
            continue
        real = move_aside(program)
        start = (
            start_argv(order.folder, real, order.commands, system) if system else (str(real.relative_to(order.folder)),)
        )
        argv[name] = write_launcher(program, order.folder, start, variables)
    return ServerPrograms(argv, facts)


def move_aside(program: Path) -> Path:
    """Make room for the script that replaces a program."""
    real = program.with_name(program.name + _REAL)
    program.resolve().rename(real)
    program.unlink(missing_ok=True)  # it was a link
    return real


def write_launcher(script: Path, folder: Path, argv: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Write a script that starts an argv prefix, which is relative to the build's folder; return its own prefix."""

    def quote(word: str) -> str:
        if word.startswith("-"):
            return word
        escaped = re.sub(r'(["$`\\])', r"\\\1", word)
        return '"' + ":".join(f"{_BUILD}/{part}" for part in escaped.split(":")) + '"'

    lines = [
        "#!/bin/sh",
        f'build=$(CDPATH= cd -- "${{0%/*}}/{os.path.relpath(folder, script.parent)}" && pwd -P) || exit 127',
        *(f'{name}="{value}" && export {name}' for name, value in environment.items()),
        f'exec {" ".join(quote(word) for word in argv)} "$@"',
    ]
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    script.chmod(0o755)
    return (str(script.relative_to(folder)),)
