"""PostgreSQL, with pgvector as an extension of a build."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from stepgrid.engines.mysql import SERVER_KINDS
from stepgrid.plugins.capabilities import Release, reached
from stepgrid.plugins.engine import Built, Identity, OptionInfo, Run

if TYPE_CHECKING:
    from pathlib import Path

    from stepgrid.build.recipe import Installed, Recipe
    from stepgrid.build.task import Order
    from stepgrid.lint.rule import Rule
    from stepgrid.model.command import Command
    from stepgrid.model.plan import Json
    from stepgrid.plugins.server import Access, Connection, Described, Effective, Home, Seen, Since
    from stepgrid.plugins.server_statistics import Looks

# the first release that can, from the release notes
_SINCE: Mapping[str, Release] = {
    "parallel_query": (9, 6),
    "declarative_partitioning": (10,),
    "covering_index": (11,),
    "jit": (11,),
    "parallel_index_build": (11,),
    "generated_columns": (12,),
    "vacuum_index_cleanup": (12,),
    "autovacuum_insert": (13,),
    "btree_deduplication": (13,),
    "incremental_sort": (13,),
    "parallel_vacuum": (13,),
    "lz4_toast": (14,),
    "pg_stat_wal": (14,),
    "wal_compression_lz4": (15,),
    "pg_stat_io": (16,),
    "pg_stat_checkpointer": (17,),
    "io_method": (18,),
    "index_skip_scan": (18,),
}


class Postgres:
    name = "postgres"
    programs: tuple[str, ...] = ("postgres", "initdb", "pg_ctl")
    kinds: tuple[str, ...] = (*SERVER_KINDS, "vector_search")
    immutable: tuple[str, ...] = ()
    server = True
    storage_engines: tuple[str, ...] = ("heap",)
    default_storage_engine = "heap"
    extensions: tuple[str, ...] = ("pgvector",)
    systems: tuple[str, ...] = ("configure", "meson")
    reserved: Mapping[str, str] = {
        "default_table_access_method": "storage_engine",
        **dict.fromkeys(
            (
                "data_directory",
                "config_file",
                "hba_file",
                "ident_file",
                "external_pid_file",
                "unix_socket_directories",
                "listen_addresses",
                "port",
            ),
            "",
        ),
    }

    def capabilities(self, version: str) -> frozenset[str]:
        return reached(version, _SINCE)

    def identify(self, run: Run) -> Identity:
        from stepgrid.engines.postgres import options

        return options.identify(run)

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        from stepgrid.engines.postgres import options

        return options.catalogue(run)

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid.engines.postgres.recipes.configure import PostgresConfigure
        from stepgrid.engines.postgres.recipes.meson import PostgresMeson

        return PostgresConfigure(), PostgresMeson()

    def installed(self) -> Installed:
        from stepgrid.build.recipe import Installed

        return Installed(clients=("psql", "pgbench", "pg_isready"))

    def extend(self, order: Order, prefix: Path, what: str) -> Mapping[str, Json]:
        from stepgrid.engines.postgres import extensions

        return extensions.there(order, prefix, what)

    def rules(self) -> Sequence[Rule]:
        from stepgrid.lint.measured_steps import cache_over_memory

        return [cache_over_memory("shared_buffers")]

    stop = signal.SIGINT  # fast: rolls back who is there; SIGTERM waits for every client to leave
    socket = ".s.PGSQL.5432"  # libpq makes the name of the number
    port = 5432
    user = database = "stepgrid"

    def configuration(self, home: Home, options: Mapping[str, Any]) -> Mapping[str, str]:
        from stepgrid.engines.postgres import server

        return server.configuration(home, options)

    def initialize(self, home: Home) -> Sequence[Command]:
        from stepgrid.engines.postgres import server

        return server.initialize(home)

    def prepare(self, home: Home) -> Sequence[Command]:
        """Nothing: the first connection sets the password."""
        return ()

    def serve(self, home: Home) -> Command:
        from stepgrid.engines.postgres import server

        return server.serve(home)

    def connect(self, access: Access) -> Connection:
        from stepgrid.engines.postgres import connection

        return connection.connect(access)

    secret_variables: tuple[str, ...] = ("PGPASSWORD",)

    def client_environment(self, access: Access) -> Mapping[str, str]:
        return {
            "PGHOST": access.host or str(access.sockets),
            "PGPORT": str(access.port),
            "PGUSER": access.user,
            "PGPASSWORD": access.password,
            "PGDATABASE": access.database,
        }

    def effective(self, connection: Connection, asked: Mapping[str, Any]) -> Effective:
        from stepgrid.engines.postgres import effective_settings

        return effective_settings.effective(connection, asked)

    def counters(self, connection: Connection) -> Mapping[str, float]:
        from stepgrid.engines.postgres import effective_settings

        return effective_settings.counters(connection)

    def looks(self, connection: Connection) -> Looks:
        from stepgrid.engines.postgres import server_statistics

        return server_statistics.looks(connection)

    def settle(self, connection: Connection, access: Access) -> AbstractContextManager[None]:
        from stepgrid.engines.postgres import quiesce

        return quiesce.settle(connection, access)

    def analyze(self, connection: Connection, access: Access) -> None:
        from stepgrid.engines.postgres import quiesce

        quiesce.analyze(connection, access)

    def busy(self, connection: Connection, access: Access) -> Sequence[Seen]:
        from stepgrid.engines.postgres import quiesce

        return quiesce.busy(connection, access)

    def described(self, connection: Connection) -> Described:
        from stepgrid.engines.postgres import external_server

        return external_server.described(connection)

    def since(self, connection: Connection) -> Since:
        from stepgrid.engines.postgres import external_server

        return external_server.since(connection)

    def compared(self, connection: Connection, asked: Mapping[str, Any]) -> Effective:
        from stepgrid.engines.postgres import external_server

        return external_server.compared(connection, asked)


ENGINE: Built = Postgres()
