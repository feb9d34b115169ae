"""PostgreSQL, with pgvector as an extension of a build."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.engines.postgres import options, quiesce, running_server, server_statistics
from stepgrid.engines.postgres import server as server_process
from stepgrid.plugins.capabilities import Release, reached
from stepgrid.plugins.engine import Built

if TYPE_CHECKING:
    from stepgrid.build.recipe import InstalledPrograms, Recipe
    from stepgrid.build.task import Order
    from stepgrid.lint.rule import Rule
    from stepgrid.model.command import Command
    from stepgrid.model.plan import Json
    from stepgrid.plugins.server import Access, Connection, ServerHome

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
    kinds: tuple[str, ...] = ("sysbench", "insert_benchmark", "linkbench", "sql", "quiesce", "command", "vector_search")
    immutable: tuple[str, ...] = ()
    server = True
    storage_engines: tuple[str, ...] = ("heap",)
    default_storage_engine = "heap"
    extensions: tuple[str, ...] = ("pgvector",)
    systems: tuple[str, ...] = ("configure", "meson")
    reserved: Mapping[str, str] = {
        "default_table_access_method": "storage_engine",
        **dict.fromkeys(("data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"), ""),
        **dict.fromkeys(("unix_socket_directories", "listen_addresses", "port"), ""),
    }

    def capabilities(self, version: str) -> frozenset[str]:
        return reached(version, _SINCE)

    identify = staticmethod(options.identify)
    catalogue = staticmethod(options.catalogue)
    value_fault = staticmethod(options.value_fault)
    booleans, counts_choices = options.BOOLEANS, False
    known_options = Path(__file__).with_name("known_options.json")

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid.engines.postgres.recipes.configure import PostgresConfigure
        from stepgrid.engines.postgres.recipes.meson import PostgresMeson

        return PostgresConfigure(), PostgresMeson()

    def installed(self) -> InstalledPrograms:
        from stepgrid.build.recipe import InstalledPrograms

        return InstalledPrograms(clients=("psql", "pgbench", "pg_isready"))

    def extend(self, order: Order, prefix: Path, what: str) -> Mapping[str, Json]:
        from stepgrid.engines.postgres import extensions

        return extensions.there(order, prefix, what)

    def rules(self) -> Sequence[Rule]:
        from stepgrid.lint.step_limits import cache_over_memory

        return [cache_over_memory("shared_buffers")]

    stop = signal.SIGINT  # fast: rolls back who is there; SIGTERM waits for every client to leave
    socket = ".s.PGSQL.5432"  # libpq makes the name of the number
    port = 5432
    user = database = "stepgrid"
    secret_variables: tuple[str, ...] = ("PGPASSWORD",)

    configuration = staticmethod(server_process.configuration)
    initialize = staticmethod(server_process.initialize)
    serve = staticmethod(server_process.serve)
    effective = staticmethod(running_server.effective)
    counters = staticmethod(running_server.counters)
    report_counters = staticmethod(running_server.report_counters)
    looks = staticmethod(server_statistics.looks)
    settle = staticmethod(quiesce.settle)
    analyze = staticmethod(quiesce.analyze)
    busy = staticmethod(quiesce.busy)
    described = staticmethod(running_server.described)
    since = staticmethod(running_server.since)
    compared = staticmethod(running_server.compared)

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        """Nothing: the first connection sets the password."""
        return ()

    def connect(self, access: Access) -> Connection:
        from stepgrid.engines.postgres import connection  # psycopg is slow to import

        return connection.connect(access)

    def socket_of(self, given: Path, port: int) -> tuple[Path, int]:
        """The folder that it is in, or the socket itself, whose name ends in the port."""
        number = given.name.removeprefix(".s.PGSQL.")
        if number != given.name and number.isdecimal():
            return given, int(number)
        return given / f".s.PGSQL.{port}", port

    def client_environment(self, access: Access) -> Mapping[str, str]:
        place = {"PGHOST": access.host or str(access.sockets), "PGPORT": str(access.port)}
        return {**place, "PGUSER": access.user, "PGPASSWORD": access.password, "PGDATABASE": access.database}


ENGINE: Built = Postgres()
