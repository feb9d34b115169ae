"""What all compiles have in common: a tree and its tools, and what is installed from it made fit to be moved."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepgrid.build.compilation import pruning
from stepgrid.build.compilation.development_packages import Development, development
from stepgrid.build.compilation.elf import read_elf
from stepgrid.build.compilation.toolchain import Toolchain, code_flags, find
from stepgrid.build.error import BuildError
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.language.flags import Flags, read_flags
from stepgrid.language.sources import TREES, source_kind
from stepgrid.model.plan import PlannedBuild

SECONDS = 12 * 3600.0
PREFIX = "prefix"  # below the build's folder
# What a program is told of its own libraries. In the environment, since each build system quotes a `$` in its own way.
RUN_PATH = {"LD_RUN_PATH": "$ORIGIN/../lib"}


@dataclass(frozen=True, slots=True)
class Compile:
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
        """Where compilers and linkers look first, for a build system that runs them in many folders."""
        folder = self.devel.folder
        return {"CPATH": f"{folder}/include", "LIBRARY_PATH": f"{folder}/lib"} if folder else {}

    def run(
        self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None, fault: str = ""
    ) -> None:
        """`fault`: what to say of it when it fails."""
        given = {**self.tools.environment, **(environment or {}), **self.flags.environment}
        if self.order.commands.compile(argv, SECONDS, cwd=cwd, env=given):
            raise BuildError(fault or f"{Path(argv[0]).name} failed; the end of the log says where")


class SourceRecipe:
    """A recipe that compiles a tree, by the build system that it is named after."""

    name: str
    tools: tuple[str, ...]

    def takes(self, build: PlannedBuild) -> bool:
        """Where the build does not choose, the first recipe of the engine does it."""
        return source_kind(build.source) in TREES and read_flags(build.recipe).system in (None, self.name)


def prepare(order: Order, material: Material, mark: str, packages: Sequence[str], *tools: str) -> Compile:
    """`mark`: a file by which a tree of the engine is known; `packages`: headers and libraries that it wants."""
    if material.tree is None:
        raise BuildError(f"the source brings no tree to compile {order.build.engine} from")
    flags = read_flags(order.build.recipe)
    found = find(order, flags, *tools)  # before anything is fetched: what is missing is said at once
    tree = root(material.tree, mark, order.build.engine)
    return Compile(order, tree, flags, found, development(order, packages, flags.libraries))


def root(folder: Path, mark: str, engine: str) -> Path:
    """An archive or a crate may hold the tree in a folder of its own."""
    found = [path for place in ("", "*/", "*/*/") for path in sorted(folder.glob(f"{place}{mark}"))]
    if not found:
        raise BuildError(f"this is no source tree of {engine}: it has no {mark}")
    return found[0].parents[mark.count("/")]


def installed(compiled: Compile, staged: Path, kept: Iterable[str]) -> Path:
    """Moves what was installed below a staging folder into the build; only these of its entries, without symbols."""
    prefix = compiled.order.folder / PREFIX
    shutil.move(staged, prefix)
    pruning.prune(prefix, kept)
    for archive in prefix.rglob("*.a"):
        archive.unlink()
    paths = (path for path in prefix.rglob("*") if path.is_file() and not path.is_symlink())
    if elves := [path for path in paths if _is_elf(path)]:
        pruning.strip(compiled.order, elves)
    return prefix


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF" and read_elf(path) is not None
