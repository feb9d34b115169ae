"""Metrics of how large a database is."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import END

SIZES = (
    Metric("database_bytes", "B", None, "Size of the files in the database's folder.", END),
    Metric(
        "tables_bytes",
        "B",
        None,
        "Size of the tables and their indexes, without the server's logs and other databases: of published results.",
        END,
    ),
    Metric("data_bytes", "B", None, "Size of the tables' data, as the server tells it.", END),
    Metric(
        "index_bytes",
        "B",
        None,
        "Size of the tables' indexes, as the server tells it: of InnoDB and MyRocks the secondary ones, since the "
        "primary key's has the data; of PostgreSQL all.",
        END,
    ),
)
