"""How any program finds the server of its stage: by placeholders, and as the server's own clients are told."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.plugins.server import Access

HOST = "127.0.0.1"  # where a build's `service` listens
SERVICE = "program"  # the engine of such a build
PASSWORDS = ("PGPASSWORD", "MYSQL_PWD")  # of the variables below: what is written down has them without a value


def placeholders(access: Access) -> Mapping[str, str]:
    """Without the password, which has no place in a command line."""
    if access.engine == SERVICE:
        return {"host": HOST, **{name: str(getattr(access, name)) for name in ("port", "socket", "sockets")}}
    names = ("host" if access.host else "socket", *([] if access.host else ["sockets"]), "port", "user", "database")
    return {name: str(getattr(access, name)) for name in names}


def environment(access: Access) -> Mapping[str, str]:
    if access.engine == SERVICE:
        return {}
    if access.engine == "postgres":
        return {
            "PGHOST": access.host or str(access.sockets),
            "PGPORT": str(access.port),
            "PGUSER": access.user,
            "PGPASSWORD": access.password,
            "PGDATABASE": access.database,
        }
    if access.host:
        return {"MYSQL_HOST": access.host, "MYSQL_TCP_PORT": str(access.port), "MYSQL_PWD": access.password}
    return {"MYSQL_UNIX_PORT": str(access.socket), "MYSQL_PWD": access.password}
