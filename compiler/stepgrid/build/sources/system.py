"""A binary that is on the machine already: recorded as it is, never copied."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.build.compilation.elf import read_elf
from stepgrid.build.error import BuildError
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.host.files import sha256
from stepgrid.model.plan import Json

_ADVICE = "declare the version that it says, or name another binary"


class System:
    route = "system"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"system {source[self.route]}"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        names = order.programs
        paths = {name: _find(str(source[self.route]), name, names) for name in names}
        for name, path in paths.items():
            order.commands.note(f"{name}: {path}")
        files = {name: _facts(path) for name, path in paths.items()}
        first = read_elf(paths[names[0]].resolve())
        return Material(
            programs=paths,
            quality={
                "route": self.route,
                "compiler": first.compiler if first else "unknown",
                "architecture": first.architecture if first else platform.machine(),
                # its optimisation is not known: only the same file compares without a caveat
                "sha256": {name: facts["sha256"] for name, facts in files.items()},
            },
            facts={"files": dict(files)},
            advice=_ADVICE,
        )


def _find(given: str, name: str, programs: Sequence[str]) -> Path:
    """A name is looked up on PATH, as the program's siblings are; with a path they are in its folder."""
    chosen = given if len(programs) == 1 or Path(given).name == name else str(Path(given).parent / name)
    if "/" in given and not Path(given).is_absolute():
        raise BuildError(f"`system: {given}` is neither a program's name nor an absolute path")
    found = shutil.which(chosen)
    if not found and "/" in chosen:
        raise BuildError(f"`system: {given}`: there is no program {chosen}, or it is not executable")
    if not found:
        raise BuildError(f"`system: {given}`: no program {chosen} on PATH; install it, or give its absolute path")
    return Path(found).absolute()


def _facts(path: Path) -> dict[str, Json]:
    real = path.resolve()
    status = real.stat()
    return {"path": str(real), "sha256": sha256(real), "bytes": status.st_size, "modified": status.st_mtime_ns}
