"""Where a server's own files are in a build, and how its programs are told: they were compiled to lie elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from compiler.build.launcher import BUILD
from compiler.build.order import Order
from compiler.plan.model import Json

# by the fact that says where: the variable that tells the programs
_VARIABLES = {
    "basedir": ("MY_BASEDIR_VERSION", "{}"),
    "client plugins": ("MARIADB_PLUGIN_DIR", "{}"),
    "lua": ("LUA_PATH", "${{LUA_PATH:+$LUA_PATH;}}{}/?.lua"),  # a workload of one's own comes first
}


class Places(NamedTuple):
    environment: dict[str, str]  # of its programs, with the folder of the build as it is when they are started
    facts: dict[str, Json]  # relative to the build's folder


def places(order: Order, server: Path) -> Places:
    """`server`: the program, in a bin or sbin folder of its own base."""
    found = {name: str(path.relative_to(order.folder)) for name, path in _found(order.build.engine, server)}
    told = {name: (*_VARIABLES[name], path) for name, path in found.items() if name in _VARIABLES}
    environment = {variable: value.format(f"{BUILD}/{path}") for variable, value, path in told.values()}
    return Places(environment, dict(found))


def _found(engine: str, server: Path) -> Iterator[tuple[str, Path]]:
    base = server.parent.parent
    if engine in ("mysql", "mariadb"):
        yield "basedir", base
        for file in sorted(base.glob("share/**/*_system_tables.sql"))[:1]:
            yield "system tables", file.parent  # the SQL that a new data directory is made with
    if engine in ("mariadb", "sysbench"):
        for folder in sorted(base.glob("lib/*/libmariadb*/plugin"))[:1]:
            yield "client plugins", folder
    if engine == "sysbench" and (base / "share" / "sysbench").is_dir():
        yield "lua", base / "share" / "sysbench"
