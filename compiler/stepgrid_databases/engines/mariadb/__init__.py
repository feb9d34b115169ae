"""MariaDB: InnoDB, and MyRocks as a plugin."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model.plan import Value
from stepgrid.plugins.engine import Built, Release, Renaming
from stepgrid.plugins.server import ServerHome
from stepgrid_databases.engines.mysqld import options
from stepgrid_databases.engines.mysqld.server import MysqldServing

# the first release that can, from the release notes
_SINCE: Mapping[str, Release] = {
    "myrocks": (10, 2, 5),
    "instant_add_column": (10, 3, 2),
    "single_redo_log": (10, 5, 1),
    "json_table": (10, 6),
    "descending_indexes": (10, 8),
    "redo_log_resize": (10, 9),
    "vector_type": (11, 7),
    "vector_index": (11, 7),
}
# the first release that has the new name, or not the old one, from the release notes
RENAMINGS = (
    Renaming("innodb_log_file_size", (10, 5, 2), "innodb_log_file_size", times=("innodb_log_files_in_group", 1)),
    *(
        Renaming(name, (10, 6))
        for name in (
            "innodb_buffer_pool_instances", "innodb_commit_concurrency", "innodb_concurrency_tickets",
            "innodb_file_format", "innodb_large_prefix", "innodb_log_checksums", "innodb_log_compressed_pages",
            "innodb_log_optimize_ddl", "innodb_page_cleaners", "innodb_thread_concurrency", "innodb_undo_logs",
        )
    ),
    Renaming("innodb_change_buffering", (11, 0)),
    Renaming("innodb_change_buffer_max_size", (11, 0)),
    Renaming("innodb_defragment", (11, 1)),
)  # fmt: skip


class MariaDB(MysqldServing):
    name = "mariadb"
    first_releases = _SINCE
    renamings = RENAMINGS
    promises = options.promises(log_bin="0", sync_binlog="0")
    program = "mariadbd"
    # MyRocks is a plugin, which names its options once it is loaded; where it is not, the rest is listed
    listing = ("--plugin-load-add=ha_rocksdb",)
    programs: tuple[str, ...] = ("mariadbd",)
    repository = "https://github.com/MariaDB/server.git"
    flagged_options: Mapping[str, str] = {
        "innodb_numa_interleave": "WITH_NUMA",
        "performance_schema*": "PLUGIN_PERFSCHEMA",
        "rocksdb_*": "PLUGIN_ROCKSDB",
    }
    kinds = (*MysqldServing.kinds, "vector_search")
    vector_server = "stepgrid_databases.engines.mysqld.vectors:MariaDBVectors"

    def bootstraps(self, version: str) -> bool:
        return True

    def lines(self, home: ServerHome, options: Mapping[str, Value]) -> tuple[str, ...]:
        wanted = home.access.storage_engine == "rocksdb" or any(name.startswith("rocksdb") for name in options)
        return ("plugin_load_add = ha_rocksdb",) if wanted else ()


ENGINE: Built = MariaDB()
