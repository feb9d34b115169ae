"""Recipes of any program: run the command that the spec gives in its tree, or take what a client has installed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from stepgrid.build.elf import read_elf, strings
from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import move_aside, start_argv, write_launcher
from stepgrid.build.recipe import BuiltPrograms, Material, Order, require, source_of
from stepgrid.host.failure import end_of_log
from stepgrid.language.files import head
from stepgrid.language.problems import nearest
from stepgrid.language.requirements import (
    PYTHON,
    Requirement,
    RequirementsError,
    is_python,
    script_requirements,
    sorted_lines,
)
from stepgrid.language.sources import INSTALLED, LIBRARIES, READY, REQUIREMENTS, SOURCE_PARTS, source_kind
from stepgrid.model.plan import PlannedBuild, inner_map, recipe_flags
from stepgrid.plugins.engine import DeclaredBuilds

_BIN_FOLDERS = ("bin", "node_modules/.bin")
_LONGEST = 12 * 3600.0  # seconds
_COMPILERS = "cc|c\\+\\+|gcc|g\\+\\+|clang|clang\\+\\+|make|cmake|ninja|ld|ar"
# By tool: the file on top of a tree that says that it is used, and what it reads in folders above the tree as well.
_READ_UPWARD = {
    "cargo": ("Cargo.toml", (".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain")),
    "go": ("go.mod", ("go.mod", "go.work")),
    "mvn": ("pom.xml", (".mvn",)),
    "npm": ("package.json", ("package.json", ".npmrc", "node_modules")),
}
_ADDED = (".cargo/config.toml", ".cargo/config")  # to the tree's own; of the others the nearest counts alone
_MISSING = re.compile(rf"(?:^|[\s:])({_COMPILERS}): (?:command not found|not found|No such file or directory)$", re.M)


class ByCommand:
    name, tools = "program", ()  # its command says which it runs

    def takes(self, build: PlannedBuild) -> bool:
        return not any(kind in build.source for kind in READY)

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        tree, recipe, engine = material.tree or material.prefix, order.build.recipe, order.engine
        if tree is None:
            raise BuildError("the source brings no tree that a program could be made of")
        assert isinstance(engine, DeclaredBuilds)
        parts = _fetch_parts(order)
        command = str(recipe_flags(recipe).get("command", ""))  # empty where the tree holds its programs already
        if command:
            argv = [word.replace("{jobs}", str(order.jobs)) for word in shlex.split(command)]
            _refuse_settings_above(tree, argv)
            _compile(order, argv, tree, order.environment)
        declared = engine.program_paths(recipe)
        libraries = _fetch_libraries(order, tree, declared.values())
        packed = _start_packed(order, parts, [name for name, path in declared.items() if not (tree / path).exists()])
        paths = {name: _check_program(tree, path, libraries) for name, path in declared.items() if name not in packed}
        # without names: the same program is called differently in another version
        compilers = {elf.compiler if (elf := read_elf(path.resolve())) else "none" for path in paths.values()}
        return BuiltPrograms(
            {**packed, **{name: _start_argv(order.folder, path, libraries) for name, path in paths.items()}},
            quality={
                "command": command,
                "environment": {**order.environment},
                "compiler": ", ".join(sorted(compilers)),
                **({"python": libraries.quality["python"]} if libraries else {}),
            },
            artifacts=tuple(artifact for part in (*parts, libraries) if part for artifact in part.artifacts),
            facts=libraries.facts if libraries else {},
        )


class Installed:
    """The recipe for programs that a package's client has installed into the build."""

    name, tools = "installed", ()

    def takes(self, build: PlannedBuild) -> bool:
        return source_kind(build.source) in INSTALLED

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        assert material.prefix is not None
        folders = [folder for name in _BIN_FOLDERS if (folder := material.prefix / name).is_dir()]
        installed = {path.name: path for folder in folders for path in sorted(folder.iterdir())}
        for name in order.programs:
            if name not in installed:
                package = source_of(order.build.source).describe(order.build.source)
                hint = nearest(name, installed) if installed else "it brings none: it is a library"
                raise BuildError(f"{package} has no program {name}; {hint}")
        libraries = material if REQUIREMENTS in order.build.source else None
        return BuiltPrograms({name: _start_argv(order.folder, installed[name], libraries) for name in order.programs})


# Further sources, each beside the tree in ../parts/NAME: `tree`, or `prefix` of packages


def _fetch_parts(order: Order) -> list[Material]:
    sources, parts = inner_map(order.build.source, SOURCE_PARTS), list[Material]()
    for name in sources:
        source = inner_map(sources, name)
        folder = order.folder / SOURCE_PARTS / name
        folder.mkdir(parents=True)
        parts.append(source_of(source).fetch(source, folder, order))
    return parts


def _start_packed(order: Order, parts: Iterable[Material], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Put a script in the place of each program of packages, which starts it with its packages' libraries."""
    argv: dict[str, tuple[str, ...]] = {}
    for prefix in (part.prefix for part in parts if part.prefix is not None):
        programs = {name: prefix / "usr" / "bin" / name for name in names if (prefix / "usr" / "bin" / name).exists()}
        for name, program in programs.items():
            start = start_argv(order.folder, move_aside(program), order.commands, str(prefix.relative_to(order.folder)))
            argv[name] = write_launcher(program, order.folder, start, {})
    return argv


# Scripts and their libraries


def _fetch_libraries(order: Order, tree: Path, programs: Iterable[str]) -> Material | None:
    """Make the environment of the libraries that the spec, or else a script itself, names; None without any."""
    source = inner_map(order.build.source, LIBRARIES)
    if not source:
        lines = [line for path in programs if (tree / path).is_file() for line in _script_lines(tree / path)]
        source = {REQUIREMENTS: [*sorted_lines(lines)]} if lines else {}
    return source_of(source).fetch(source, order.folder, order) if source else None


def _script_lines(program: Path) -> list[Requirement]:
    text = head(str(program)).decode(errors="replace")
    try:
        return (script_requirements(text) or []) if is_python(program.name, text) else []
    except RequirementsError as error:
        raise BuildError(f"{program.name} {error}") from None


def _start_argv(folder: Path, program: Path, libraries: Material | None) -> tuple[str, ...]:
    """Start a Python script by the Python that has its libraries; another script finds that first on its PATH."""
    relative = str(program.relative_to(folder))
    if libraries is None or libraries.prefix is None or program.name == PYTHON:
        return (relative,)
    python = (libraries.prefix / "bin" / PYTHON).relative_to(folder)
    text = head(str(program)).decode(errors="replace")
    if is_python(program.name, text):
        return (str(python), relative)
    if not text.startswith("#!"):
        return (relative,)
    real = move_aside(program)
    return write_launcher(program, folder, (str(real.relative_to(folder)),), {"PATH": f"$build/{python.parent}:$PATH"})


def _refuse_settings_above(tree: Path, argv: Sequence[str]) -> None:
    """Refuse files around outputs/ that would change what is built: no id has them, and others may have written them.

    Those of the user's home and of the root folder are of this machine, as CARGO_HOME is.
    """
    words = re.findall(r"[\w.-]+", " ".join(argv))
    folders = [folder for folder in tree.resolve().parents if folder not in (Path.home().resolve(), Path("/"))]
    for tool, (manifest, names) in _READ_UPWARD.items():
        if tool not in words and not (tree / manifest).exists():
            continue
        for path, name in ((folder / name, name) for folder in folders for name in names):
            if os.path.lexists(path) and not _is_settled(tree, name, path):
                raise BuildError(
                    f"{tool} would read {path}, which is no part of the build: bring it in its tree, where a file that"
                    " begins with a dot is named (`source: {path: …, files: […]}`), or run stepgrid in a folder that"
                    " has none above it"
                )


def _is_settled(tree: Path, name: str, other: Path) -> bool:
    """Tell whether a tree leaves nothing to a file above it."""
    if name not in _ADDED:
        return any(tree.rglob(name))
    path = tree / name
    return path.is_file() and other.is_file() and path.read_bytes() == other.read_bytes()


def _compile(order: Order, argv: Sequence[str], tree: Path, variables: Mapping[str, str]) -> None:
    program = argv[0] if "/" in argv[0] else require(order, argv[0])  # with a slash of the tree, as for a shell
    status = order.commands.compile([program, *argv[1:]], _LONGEST, cwd=tree, env=variables)
    if status == 0:
        return
    for name in dict.fromkeys(_MISSING.findall(end_of_log(order.commands.log))):
        require(order, name)
    ending = f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
    raise BuildError(f"the build's command {argv[0]} {ending}")


def _check_program(tree: Path, path: str, libraries: Material | None) -> Path:
    program = tree / path
    if not program.resolve().is_relative_to(tree.resolve()):
        raise BuildError(f"the program {path} is a link out of its tree")
    if not program.is_file():
        raise BuildError(f"the tree has no program {path} when its command has ended")
    is_script = libraries is not None and is_python(path, head(str(program)).decode(errors="replace"))
    if not is_script and not program.stat().st_mode & 0o100:
        raise BuildError(f"{path} is not executable: `chmod +x` it, and begin a script with `#!`")
    if fault := relocation_fault(program, tree):
        raise BuildError(f"the program {path} would not run where the build is published: {fault}")
    return program


def relocation_fault(program: Path, folder: Path) -> str | None:
    """Say why a program would not run in another folder, and what to do.

    A build moves when it is published. Names of source files in assertions and debugging information do no harm: of an
    ELF file only the names of its libraries are searched for the folder.
    """
    names = {str(folder.absolute()), str(folder.resolve())}
    if read_elf(program) is not None:
        if any(name in text for text in strings(program, ".dynstr") for name in names):
            return (
                "it looks for its libraries in the folder that it was compiled in; link it with the run path"
                " `$ORIGIN/…`, or statically"
            )
        return None
    content = program.read_bytes()
    if not any(name.encode() in content for name in names):
        return None
    if b"libtool" in content[:4096]:
        return "it is libtool's wrapper of the program; configure with `--disable-shared`, or install into the tree"
    return "its text names the folder that it was made in; let it find its files by `$0`"
