"""Metrics of the garbage that a step leaves behind: old versions of rows that are not removed yet, and their space."""

from __future__ import annotations

from stepgrid.model.metrics.metric import END, Metric

GARBAGE = (
    Metric("dead_rows", "rows", "lower",
           "Rows that were deleted or updated and that no vacuum has removed yet: n_dead_tup of pg_stat_user_tables, "
           "an estimate of PostgreSQL's own.", END),
    Metric("history_list_length", "transactions", "lower",
           "InnoDB's history list: transactions whose old row versions purge has not removed. Absent where no table "
           "is InnoDB's.", END),
    Metric("tombstones", "entries", "lower",
           "Deletes and single deletes in the files of all tables of MyRocks: a scan has to skip them until a "
           "compaction drops them. Those in memtables are not in it.", END),
    Metric("bloat_bytes", "B", "lower",
           "Bytes of the tables that hold no live row. InnoDB: free extents of the files (DATA_FREE). PostgreSQL: what "
           "the tables without their indexes are larger than live rows x their mean width by pg_stats; absent until "
           "all of them were analyzed.", END),
)  # fmt: skip
