"""How sysbench is told which server it shall reach: options of its driver, and a file that holds the password."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepgrid.plugins.driver import Context
    from stepgrid.plugins.server import Access

CONNECTION = "connection"  # the file; the Lua of templates/ removes it by this name
MOST = 2**31 - 1  # sysbench's numbers


def server(context: Context) -> Access:
    if context.server is None:
        raise ValueError("it needs a server, and the engine of this build is none")
    return context.server


def driver(access: Access) -> str:
    return "pgsql" if access.engine == "postgres" else "mysql"


def options(access: Access) -> dict[str, Any]:
    name = driver(access)
    if name == "pgsql":
        place: dict[str, Any] = {"pgsql-host": access.host or access.sockets, "pgsql-port": access.port}
    elif access.host:
        place = {"mysql-host": access.host, "mysql-port": access.port}
    else:
        place = {"mysql-socket": access.socket}
    known = {f"{name}-user": access.user, f"{name}-db": access.database}
    return {"db-driver": name, "config-file": CONNECTION, **place, **known}


def password_file(access: Access) -> dict[str, str]:
    return {CONNECTION: f"{driver(access)}-password={access.password}\n"}


def seed(context: Context) -> int:
    return context.seed % MOST + 1  # 0 would be the time


def words(flags: Mapping[str, Any]) -> list[str]:
    return [f"--{name.replace('_', '-')}={_text(value)}" for name, value in flags.items()]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
