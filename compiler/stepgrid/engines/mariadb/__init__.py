"""MariaDB: InnoDB, and MyRocks as a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepgrid.engines.mysql import RESERVED, SERVER_KINDS
from stepgrid.engines.mysqld import binary
from stepgrid.engines.mysqld.server import MysqldServing
from stepgrid.plugins.capabilities import Release, reached
from stepgrid.plugins.engine import Built, Identity, OptionInfo, Run

if TYPE_CHECKING:
    from stepgrid.plugins.server import Home

# MyRocks is a plugin, which names its options once it is loaded; where it is not, the rest is listed
_MYROCKS = ("--plugin-load-add=ha_rocksdb",)

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


class MariaDB(MysqldServing):
    name = "mariadb"
    program = "mariadbd"
    programs: tuple[str, ...] = ("mariadbd",)
    kinds: tuple[str, ...] = (*SERVER_KINDS, "vector_search")
    immutable: tuple[str, ...] = ("*.sst",)  # of MyRocks
    server = True
    storage_engines: tuple[str, ...] = ("innodb", "rocksdb")
    default_storage_engine = "innodb"
    extensions: tuple[str, ...] = ()
    reserved = RESERVED

    def bootstraps(self, version: str) -> bool:
        return True

    def lines(self, home: Home, options: Mapping[str, Any]) -> tuple[str, ...]:
        wanted = home.access.storage_engine == "rocksdb" or any(name.startswith("rocksdb") for name in options)
        return ("plugin_load_add = ha_rocksdb",) if wanted else ()

    def capabilities(self, version: str) -> frozenset[str]:
        return reached(version, _SINCE)

    def identify(self, run: Run) -> Identity:
        return binary.identify(run, "mariadbd")

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        return binary.catalogue(run, "mariadbd", _MYROCKS)

    def meant(self, name: str, catalogue: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
        from stepgrid.engines.mysqld import option_prefixes

        return option_prefixes.meant(name, catalogue)


ENGINE: Built = MariaDB()
