"""Metrics of steps that wait until the engine is quiet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stepgrid.model.metrics.metric import Metric, MetricSet

# Which of the things that are looked at have figures of their own, one at the start and one at the end.

START, END = "start", "end"


class Amount(NamedTuple):
    name: str
    unit: str
    what: str  # for the definition of the metric

    def metric(self, when: str) -> str:
        return f"quiesce_{self.name}_{when}"


AMOUNTS: Mapping[str, Amount] = {
    "dirty pages": Amount("dirty_pages", "pages", "Dirty pages in InnoDB's buffer pool"),
    "history list": Amount("history_list", "transactions", "Length of InnoDB's history list: what is left to purge"),
    "change buffer": Amount("change_buffer", "pages", "InnoDB's change buffer, its root included"),
    "memtables": Amount("memtable_bytes", "B", "Size of the memtables of MyRocks"),
    "memtables to flush": Amount("memtables", "memtables", "Memtables of MyRocks that wait for their flush"),
    "pending compactions": Amount("pending_compactions", "families", "Column families with a compaction pending"),
    "compactions": Amount("compactions", "jobs", "Compactions of MyRocks under way"),
    "tables due for autovacuum": Amount("tables_due", "tables", "Tables that autovacuum will take"),
    "log since the checkpoint": Amount("wal_bytes", "B", "Write-ahead log of PostgreSQL since its last checkpoint"),
    "level 0 files": Amount("l0_files", "files", "Files of level 0 (db_bench)"),
    "pending compaction bytes": Amount("pending_bytes", "B", "Compaction debt as RocksDB estimates it (from 9.0)"),
    "device busy": Amount("device_busy_pct", "%", "Time in which the device was at work, of the last second"),
    "device writes": Amount("device_write_bytes_per_s", "B/s", "What was written to the device in the last second"),
}


_WINDOWS = {START: "at the first look, before anything was asked for", END: "at the last look"}

QUIET = (
    Metric("quiesce_seconds", "s", "lower",
           "Time until everything was idle, without the stretch in which it had to stay so. Absent when it did not "
           "become quiet in time.", "from the first look"),
    *(
        Metric(amount.metric(when), amount.unit, None, f"{amount.what}.", window)
        for amount in AMOUNTS.values()
        for when, window in _WINDOWS.items()
    ),
)  # fmt: skip

OWN = MetricSet({"Quiet": QUIET})
