"""PostgreSQL, with pgvector as an extension of a build."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.engines.mysql import SERVER_KINDS
from compiler.engines.protocol import Built, Identity, OptionInfo, Run
from compiler.engines.versions import Release, reached

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
        from compiler.engines import postgres_identity

        return postgres_identity.identify(run)

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        from compiler.engines import postgres_config

        return postgres_config.catalogue(run)


ENGINE: Built = Postgres()
