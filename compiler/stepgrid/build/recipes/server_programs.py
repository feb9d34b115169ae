"""A server in a prefix: its programs are found, and told where their files are when they were compiled elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.compilation import launcher
from stepgrid.build.compilation.install_prefix import argv_of
from stepgrid.build.compilation.launcher import BUILD
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import InstalledPrograms, PackagedEngine
from stepgrid.build.task import Order
from stepgrid.model.plan import Json
from stepgrid.plugins.engine import Built

_FOLDERS = ("bin", "sbin", "libexec")


def installed(engine: Built) -> InstalledPrograms:
    return engine.installed() if isinstance(engine, PackagedEngine) else InstalledPrograms()


def find(prefix: Path, engine: Built, what: str) -> dict[str, Path]:
    """By name, those of the server's own folder first: elsewhere a name may be that of a wrapper."""
    known = installed(engine)
    places = list(_places(prefix, engine.programs[0], known.older_names))
    names = (*engine.programs, *known.clients)
    found = {name: path for name in names if (path := _first(places, name, known.older_names))}
    missing = [name for name in engine.programs if name not in found]
    if missing:
        there = sorted({path.name for place in places for path in place.iterdir()})
        raise BuildError(f"{what} has no program {missing[0]}; its programs are: {', '.join(there) or 'none'}")
    return found


def _places(prefix: Path, server: str, older: Mapping[str, str]) -> Iterator[Path]:
    folders = [path for name in _FOLDERS for path in sorted(prefix.rglob(name)) if path.is_dir()]
    real = [path for path in dict.fromkeys(path.resolve() for path in folders) if path.is_relative_to(prefix.resolve())]
    below = [prefix / path.relative_to(prefix.resolve()) for path in real]
    return iter(sorted(below, key=lambda place: _first([place], server, older) is None))


def _first(places: list[Path], name: str, older: Mapping[str, str]) -> Path | None:
    paths = (place / each for each in (name, older.get(name, name)) for place in places)
    return next((path for path in paths if path.is_file()), None)


class ServerPrograms(NamedTuple):
    programs: dict[str, tuple[str, ...]]  # argv prefixes, relative to the build's folder
    facts: dict[str, Json]  # where its files are, likewise


def startable(order: Order, programs: Mapping[str, Path], system: str | None = None) -> ServerPrograms:
    """`system`: the prefix below the build's folder whose loader and libraries they are started with; None: none."""
    base = programs[order.engine.programs[0]].parent.parent  # of its bin or sbin folder
    found = list(installed(order.engine).places(base, order.folder / system / "usr" if system else base))
    facts = {place.fact: str(place.path.relative_to(order.folder)) for place in found}
    told = {place.variable: place.value.format(f"{BUILD}/{facts[place.fact]}") for place in found if place.variable}
    return ServerPrograms({name: _started(order, path, told, system) for name, path in programs.items()}, {**facts})


def _started(order: Order, program: Path, environment: Mapping[str, str], system: str | None) -> tuple[str, ...]:
    if system is None and not environment:
        return (str(program.relative_to(order.folder)),)
    real = launcher.aside(program)
    argv = argv_of(order.folder, real, order.commands, system) if system else (str(real.relative_to(order.folder)),)
    return launcher.write(program, order.folder, argv, environment)
