"""What InnoDB says of its indexes' sizes, of its buffer pool, and of old versions of rows that are yet to be purged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from stepgrid.model.step_start import CACHE, CACHED, HISTORY
from stepgrid.plugins.server import Connection
from stepgrid.plugins.server_statistics import ObjectSize

# where MariaDB tells it, and MySQL
_STATUS, _METRIC = "Innodb_history_list_length", "innodb_metrics.trx_rseg_history_len"
_POOL = ("page_size", "buffer_pool_pages_data", "buffer_pool_pages_total")
_PAGES = (
    "SELECT i.database_name AS `schema`, i.table_name AS `table`, i.index_name AS name, i.stat_value AS pages, "
    "t.clustered_index_size AS clustered FROM mysql.innodb_index_stats AS i JOIN mysql.innodb_table_stats AS t "
    "ON t.database_name = i.database_name AND t.table_name = i.table_name WHERE i.stat_name = 'size'"
)
Row = Mapping[str, Any]
Name = tuple[str, str]  # of a schema and a table


def history(gauges: Mapping[str, float]) -> dict[str, float]:
    found = next((gauges[name] for name in (_STATUS, _METRIC) if name in gauges), None)
    return {} if found is None else {HISTORY: found}


def buffer_pool(gauges: Mapping[str, float]) -> dict[str, float]:
    """What it holds, of any table, and what it may hold."""
    page, data, total = (gauges.get(f"Innodb_{name}") for name in _POOL)
    return {CACHED: data * page, CACHE: total * page} if page and data is not None and total else {}


def indexes(connection: Connection, tables: Sequence[Row]) -> list[ObjectSize]:
    """Of the tables that are given, with the bytes of their data: what a page is differs where they are compressed."""
    data = {(str(row["schema"]), str(row["name"])): float(row["data_bytes"] or 0) for row in tables}
    pages: dict[tuple[str, str, str], float] = defaultdict(float)
    clustered: dict[Name, dict[str, float]] = defaultdict(dict)
    for row in _pages(connection):
        schema, stored = str(row["schema"]), str(row["table"])
        table = stored.partition("#")[0]  # of a partition: t#P#p0
        pages[schema, table, str(row["name"])] += float(row["pages"])
        clustered[schema, table][stored] = float(row["clustered"])
    whole = {table: sum(parts.values()) for table, parts in clustered.items()}
    return [
        ObjectSize(schema, table, index, bytes=count * data[schema, table] / whole[schema, table])
        for (schema, table, index), count in sorted(pages.items())
        if data.get((schema, table)) and whole[schema, table]
    ]


def _pages(connection: Connection) -> Sequence[Row]:
    try:
        return connection.query(_PAGES)
    except Exception as error:  # of each client its own; a user of somebody else's server may not read them
        why = error.args[-1] if error.args else type(error).__name__
        raise LookupError(f"the server does not tell how large its indexes are: {why}") from error
