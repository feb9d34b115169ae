"""Programs in an unpacked prefix: where they are, and how their own loader starts them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from stepgrid.build.command_runner import Commands
from stepgrid.build.compilation.elf import read_elf
from stepgrid.build.error import BuildError
from stepgrid.build.programs import absolute

SECONDS = 60.0
_PLACES = ("usr/bin", "usr/sbin", "usr/local/bin", "usr/libexec", "usr/lib/*/bin", "usr/lib/*/*/bin")


def find_programs(prefix: Path, names: Sequence[str], what: str) -> dict[str, Path]:
    found = {path.name: path for place in reversed(_PLACES) for path in sorted(prefix.glob(f"{place}/*"))}
    missing = [name for name in names if name not in found]
    if missing:
        there = ", ".join(sorted(found)) or "none"
        raise BuildError(f"{what} has no program {missing[0]}; its programs are: {there}")
    return {name: found[name] for name in names}


def argv_of(folder: Path, program: Path, commands: Commands, system: str = "prefix") -> tuple[str, ...]:
    """What starts it, with the build's libraries and none of the host's; paths relative to the folder.

    `system`: the prefix below the folder that holds the loader and the libraries.
    """
    elf = read_elf(program)
    if elf is None or elf.interpreter is None:
        return (_relative(folder, program),)  # a script, or static
    loader = _loader(folder / system, elf.interpreter)
    libraries = ":".join(_relative(folder, place) for place in library_folders(folder / system))
    start = (_relative(folder, loader), "--inhibit-cache", "--library-path", libraries)
    _check(absolute(folder, start), program, folder, commands)
    return (*start, _relative(folder, program))


def library_folders(prefix: Path) -> list[Path]:
    """The multiarch folder first, as in a loader's own search path; last those that packages keep to themselves.

    A library names such a folder by its path on a host, which is not where the prefix is.
    """
    places = [*sorted(prefix.glob("usr/lib/*-linux-*")), prefix / "usr" / "lib"]
    private = [place for place in sorted(prefix.glob("usr/lib/*-linux-*/*/")) if any(place.glob("lib*.so.*"))]
    return [*(place for place in places if any(place.glob("*.so*"))), *private]


def _relative(folder: Path, path: Path) -> str:
    return str(path.relative_to(folder))


def _loader(prefix: Path, interpreter: str) -> Path:
    asked = prefix / interpreter.lstrip("/")
    if not asked.exists():
        raise BuildError(f"the packages hold no loader {interpreter}: they lack their libc")
    return prefix / asked.resolve().relative_to(prefix.resolve())


def _check(start: Sequence[str], program: Path, folder: Path, commands: Commands) -> None:
    """The loader lists what it would load: all of it must come from the build."""
    done = commands.run([*start, "--list", str(program.absolute())], SECONDS)
    lost = re.findall(r"(\S+) => not found", done.stdout)
    strange = [
        path for path in re.findall(r"=> (/.*) \(0x", done.stdout) if not Path(path).is_relative_to(folder.absolute())
    ]
    if done.status or lost or strange:
        what = (
            f"lacks {', '.join(lost)}" if lost else f"would load {', '.join(strange)}" if strange else "cannot load it"
        )
        raise BuildError(f"{program.name} cannot be started from its packages: their loader {what}")
