"""What stays of a tree that was compiled: its programs, the shared libraries that they bring, nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stepgrid.build.attempt import LOG
from stepgrid.build.compilation.elf import SWITCHES
from stepgrid.build.error import BuildError
from stepgrid.build.task import Order
from stepgrid.model.plan import Json

PROGRAMS, LIBRARIES = "bin", "lib"
RPATH = f"$ORIGIN/../{LIBRARIES}"  # a program of bin/ finds them wherever the build's folder is

_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class PrunedPrograms:
    programs: Mapping[str, tuple[str, ...]]  # argv prefixes, relative to the build's folder
    stripped: bool
    bytes: int

    def facts(self) -> dict[str, Json]:
        return {"stripped": self.stripped, "bytes": self.bytes}


def keep(
    order: Order, programs: Mapping[str, Path], libraries: Iterable[Path] = (), strip_them: bool = True
) -> PrunedPrograms:
    """Moves them to bin/ and lib/ of the build's folder, and removes all else; `strip_them`: the libraries too."""
    homes = {name: _move(order, path, order.folder / PROGRAMS / name) for name, path in programs.items()}
    shared = [_move(order, path, order.folder / LIBRARIES / path.name) for path in libraries]
    files = [*homes.values(), *shared]
    stripped = strip(order, files if strip_them else homes.values())
    prune(order.folder, (PROGRAMS, LIBRARIES))
    argv = {name: (str(path.relative_to(order.folder)),) for name, path in homes.items()}
    return PrunedPrograms(argv, stripped, sum(path.stat().st_size for path in files))


def strip(order: Order, files: Iterable[Path]) -> bool:
    """Whether it was done; without binutils the files stay large, and work as well."""
    program = shutil.which(order.site.tool("strip"))
    if program is None:
        order.commands.note("there is no program strip (Debian package binutils): the symbols stay")
        return False
    argv = [program, "--strip-unneeded", f"--remove-section={SWITCHES}", *map(str, files)]
    done = order.commands.run(argv, _SECONDS)
    if done.status:
        raise BuildError(f"strip failed: {done.stderr.strip()}")
    return True


def prune(folder: Path, kept: Iterable[str]) -> None:
    """Removes all of a build's folder but these entries and its log."""
    stays = {*kept, LOG}
    for entry in folder.iterdir():
        if entry.name in stays:
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
