"""MySQL and its forks. A fork declares the release that it is based on; Facebook MySQL is a build of this engine."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model.plan import Value
from stepgrid.plugins.engine import Built, Release, Renaming
from stepgrid.plugins.server import ServerHome
from stepgrid_databases.engines.mysqld import options
from stepgrid_databases.engines.mysqld.server import MysqldServing

# the first release that can, from the release notes
_SINCE: Mapping[str, Release] = {
    "initialize": (5, 7, 6),
    "page_cleaners": (5, 7, 4),
    "json": (5, 7, 8),
    "generated_columns": (5, 7, 6),
    "descending_indexes": (8, 0, 1),
    "histograms": (8, 0, 3),
    "dedicated_server": (8, 0, 3),
    "instant_add_column": (8, 0, 12),
    "parallel_read_threads": (8, 0, 14),
    "clone": (8, 0, 17),
    "hash_join": (8, 0, 18),
    "explain_analyze": (8, 0, 18),
    "idle_flush_pct": (8, 0, 18),
    "doublewrite_pages": (8, 0, 20),
    "log_writer_threads": (8, 0, 22),
    "use_fdatasync": (8, 0, 26),
    "ddl_threads": (8, 0, 27),
    "redo_log_capacity": (8, 0, 30),
    "vector_type": (9, 0),
}

# the first release that has the new name, or not the old one, from the release notes
RENAMINGS = (
    Renaming("innodb_stats_sample_pages", (5, 6, 3), "innodb_stats_transient_sample_pages"),
    Renaming("log_warnings", (5, 7, 2), "log_error_verbosity", words={"0": "1", "1": "2", "2": "3"}),
    Renaming("innodb_checksums", (8, 0), "innodb_checksum_algorithm", words={"true": "crc32", "false": "none"}),
    Renaming("innodb_file_format", (8, 0)),
    Renaming("innodb_large_prefix", (8, 0)),
    Renaming("innodb_support_xa", (8, 0)),
    Renaming("sync_frm", (8, 0)),
    Renaming("expire_logs_days", (8, 0, 1), "binlog_expire_logs_seconds", 86400),
    Renaming("innodb_undo_logs", (8, 0, 2), "innodb_rollback_segments", had_both=True),
    Renaming("query_cache_size", (8, 0, 3)),
    Renaming("query_cache_type", (8, 0, 3)),
    Renaming("secure_auth", (8, 0, 3)),
    Renaming("metadata_locks_hash_instances", (8, 0, 13)),
    Renaming("innodb_undo_tablespaces", (8, 0, 14)),
    Renaming("internal_tmp_disk_storage_engine", (8, 0, 16)),
    Renaming("log_slave_updates", (8, 0, 26), "log_replica_updates"),
    Renaming("innodb_log_file_size", (8, 0, 30), "innodb_redo_log_capacity", times=("innodb_log_files_in_group", 2)),
)


class MySQL(MysqldServing):
    name = "mysql"
    first_releases = _SINCE
    renamings = RENAMINGS
    promises = options.promises(log_bin=(((5,), "0"), ((8, 0, 1), "1")), sync_binlog=(((5,), "0"), ((5, 7, 7), "1")))
    program = "mysqld"
    programs: tuple[str, ...] = ("mysqld",)
    repository = "https://github.com/mysql/mysql-server.git"
    flagged_options: Mapping[str, str] = {
        "innodb_numa_interleave": "WITH_NUMA",
        "performance_schema*": "WITH_PERFSCHEMA_STORAGE_ENGINE",
    }

    def lines(self, home: ServerHome, options: Mapping[str, Value]) -> tuple[str, ...]:
        """A second protocol would listen; a build with MyRocks has it compiled in, and off."""
        return ("loose_mysqlx = OFF", *(["loose_rocksdb = ON"] if home.access.storage_engine == "rocksdb" else []))


ENGINE: Built = MySQL()
