"""The servers that have vectors, by the name of their engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.servers.vector_server import VectorServer
    from stepgrid.plugins.server import Access


def connect(access: Access) -> VectorServer:
    if access.engine == "postgres":
        from stepgrid.drivers.vector_search.servers.postgres import Postgres

        return Postgres(access)
    from stepgrid.drivers.vector_search.servers.mariadb import MariaDb

    return MariaDb(access)
