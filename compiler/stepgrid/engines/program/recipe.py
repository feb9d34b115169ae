"""Programs of an engine that nobody here knows: made by the command that the spec gives, in their tree."""

from __future__ import annotations

import re
from pathlib import Path

from stepgrid.build.attempt import LOG
from stepgrid.build.compilation.elf import read_elf, strings
from stepgrid.build.compilation.toolchain import require
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.engines.program import flags
from stepgrid.host.log_tail import end_of
from stepgrid.language.builds.sources import READY
from stepgrid.model.plan import PlannedBuild

_SECONDS = 12 * 3600.0
_COMPILERS = "cc|c\\+\\+|gcc|g\\+\\+|clang|clang\\+\\+|make|cmake|ninja|ld|ar"
_MISSING = re.compile(rf"(?:^|[\s:])({_COMPILERS}): (?:command not found|not found|No such file or directory)$", re.M)


class ByCommand:
    name, tools = "program", ()  # its command says which it runs

    def takes(self, build: PlannedBuild) -> bool:
        return not any(kind in build.source for kind in READY)

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        tree = material.tree or material.prefix
        if tree is None:
            raise BuildError("the source brings no tree that a program could be made of")
        argv = flags.command(order.build.recipe, order.jobs)
        if argv:
            _compile(order, argv, tree)
        found = {name: _program(tree, path) for name, path in flags.program_paths(order.build.recipe).items()}
        programs = {name: (str(path.relative_to(order.folder)),) for name, path in found.items()}
        return BuiltPrograms(
            programs,
            quality={
                "command": flags.command_text(order.build.recipe),
                "environment": {**flags.environment(order.build.recipe)},
                "compiler": {name: _compiler(path) for name, path in found.items()},
            },
        )


def _compile(order: Order, argv: list[str], tree: Path) -> None:
    """A word with a slash is a program of the tree, as for a shell."""
    started = argv if "/" in argv[0] else [require(order, argv[0]), *argv[1:]]
    status = order.commands.compile(started, _SECONDS, cwd=tree, env=flags.environment(order.build.recipe))
    if status == 0:
        return
    for name in dict.fromkeys(_MISSING.findall(end_of(order.folder / LOG))):
        require(order, name)
    ended = f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
    raise BuildError(f"the build's command {argv[0]} {ended}")


def _program(tree: Path, path: str) -> Path:
    found = tree / path
    if not found.resolve().is_relative_to(tree.resolve()):
        raise BuildError(f"the program {path} is a link out of its tree")
    if not found.is_file():
        raise BuildError(f"the tree has no program {path} when its command has ended")
    if not found.stat().st_mode & 0o100:
        raise BuildError(f"{path} is no program: it is not executable")
    if wrong := stays(found, tree):
        raise BuildError(f"the program {path} would not run where the build is published: {wrong}")
    return found


def _compiler(path: Path) -> str:
    elf = read_elf(path.resolve())
    return elf.compiler if elf else "none"


# What in a program names the folder that it was compiled in: a build moves to another one when it is published.
#
# Names of source files in assertions and debugging information do no harm: not every byte of it counts.

_NAMES = ".dynstr"  # of an ELF file: where its libraries are, among others
_HEAD = 4096
_RUN_PATH = (
    "it looks for its libraries in the folder that it was compiled in; link it with the run path `$ORIGIN/…`,"
    " or statically"
)
_WRAPPER = "it is libtool's wrapper of the program; configure with `--disable-shared`, or install into the tree"
_SCRIPT = "its text names the folder that it was made in; let it find its files by `$0`"


def stays(program: Path, folder: Path) -> str | None:
    """Why it would not run in another folder, and what to do; None where nothing shows that."""
    names = {str(folder.absolute()), str(folder.resolve())}
    if read_elf(program) is not None:
        held = any(name in text for text in strings(program, _NAMES) for name in names)
        return _RUN_PATH if held else None
    content = program.read_bytes()
    if not any(name.encode() in content for name in names):
        return None
    return _WRAPPER if b"libtool" in content[:_HEAD] else _SCRIPT
