"""Recipe of any program: run the command that the spec gives in the source tree."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.build.elf import read_elf, strings
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import BuiltPrograms, Material, Order, require
from stepgrid.host.failure import end_of_log
from stepgrid.language.sources import READY
from stepgrid.model.plan import PlannedBuild
from stepgrid.plugins.engine import DeclaredBuilds

_LONGEST = 12 * 3600.0  # seconds
_COMPILERS = "cc|c\\+\\+|gcc|g\\+\\+|clang|clang\\+\\+|make|cmake|ninja|ld|ar"
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
        command = str(_flags(recipe).get("command", ""))  # empty where the tree holds its programs already
        if command:
            argv = [word.replace("{jobs}", str(order.jobs)) for word in shlex.split(command)]
            _compile(order, argv, tree, environment(recipe))
        paths = {name: _check_program(tree, path) for name, path in engine.program_paths(recipe).items()}
        compilers = {
            name: elf.compiler if (elf := read_elf(path.resolve())) else "none" for name, path in paths.items()
        }
        return BuiltPrograms(
            {name: (str(path.relative_to(order.folder)),) for name, path in paths.items()},
            quality={"command": command, "environment": {**environment(recipe)}, "compiler": {**compilers}},
        )


def environment(recipe: Mapping[str, Any]) -> dict[str, str]:
    flags = _flags(recipe).items()
    return {name.removeprefix("env."): str(value) for name, value in flags if name.startswith("env.")}


def _flags(recipe: Mapping[str, Any]) -> Mapping[str, Any]:
    flags: Mapping[str, Any] = recipe.get("flags", {})
    return flags


def _compile(order: Order, argv: Sequence[str], tree: Path, variables: Mapping[str, str]) -> None:
    program = argv[0] if "/" in argv[0] else require(order, argv[0])  # with a slash of the tree, as for a shell
    status = order.commands.compile([program, *argv[1:]], _LONGEST, cwd=tree, env=variables)
    if status == 0:
        return
    for name in dict.fromkeys(_MISSING.findall(end_of_log(order.commands.log))):
        require(order, name)
    ending = f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
    raise BuildError(f"the build's command {argv[0]} {ending}")


def _check_program(tree: Path, path: str) -> Path:
    program = tree / path
    if not program.resolve().is_relative_to(tree.resolve()):
        raise BuildError(f"the program {path} is a link out of its tree")
    if not program.is_file():
        raise BuildError(f"the tree has no program {path} when its command has ended")
    if not program.stat().st_mode & 0o100:
        raise BuildError(f"{path} is no program: it is not executable")
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
