"""Where a server's own files are in a build, and how its programs are told: they were compiled to lie elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.compilation import launcher
from stepgrid.build.compilation.install_prefix import argv_of
from stepgrid.build.compilation.launcher import BUILD
from stepgrid.build.task import Order
from stepgrid.model.plan import Json

# by the fact that says where: the variable that tells the programs
_VARIABLES = {
    "basedir": ("MY_BASEDIR_VERSION", "{}"),
    "client plugins": ("MARIADB_PLUGIN_DIR", "{}"),
    "lua": ("LUA_PATH", "${{LUA_PATH:+$LUA_PATH;}}{}/?.lua"),  # a workload of one's own comes first
}


class Places(NamedTuple):
    environment: dict[str, str]  # of its programs, with the folder of the build as it is when they are started
    facts: dict[str, Json]  # relative to the build's folder


def places(order: Order, server: Path, system: str | None = None) -> Places:
    """`server`: the program, in a bin or sbin folder of its own base; `system`: the prefix of its libraries."""
    base = server.parent.parent
    libraries = order.folder / system / "usr" if system else base
    there = _found(order.build.engine, base, libraries)
    found = {name: str(path.relative_to(order.folder)) for name, path in there}
    told = {name: (*_VARIABLES[name], path) for name, path in found.items() if name in _VARIABLES}
    environment = {variable: value.format(f"{BUILD}/{path}") for variable, value, path in told.values()}
    return Places(environment, dict(found))


def started(order: Order, program: Path, environment: Mapping[str, str], system: str | None = None) -> tuple[str, ...]:
    """`system`: whose loader and libraries it is started with; without one, and with nothing to tell it, as it is."""
    if system is None and not environment:
        return (str(program.relative_to(order.folder)),)
    real = launcher.aside(program)
    argv = argv_of(order.folder, real, order.commands, system) if system else (str(real.relative_to(order.folder)),)
    return launcher.write(program, order.folder, argv, environment)


def _found(engine: str, base: Path, libraries: Path) -> Iterator[tuple[str, Path]]:
    if engine in ("mysql", "mariadb"):
        yield "basedir", base
        for file in sorted(base.glob("share/**/*_system_tables.sql"))[:1]:
            yield "system tables", file.parent  # the SQL that a new data directory is made with
    if engine in ("mariadb", "sysbench"):
        for folder in sorted(libraries.glob("lib/*/libmariadb*/plugin"))[:1]:
            yield "client plugins", folder
    if engine == "sysbench" and (base / "share" / "sysbench").is_dir():
        yield "lua", base / "share" / "sysbench"
