"""Metrics of the state of an LSM tree."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import DUMP

TREE = (
    Metric("lsm_bytes", "B", None, "Size of the live SST files, as the compaction table sums it.", DUMP),
    Metric("lsm_files", "files", None, "Live SST files, as the compaction table sums them.", DUMP),
    Metric("l0_bytes", "B", None, "Size of level 0.", DUMP),
    Metric("l0_files", "files", None, "Files of level 0. Absent when the level was never filled.", DUMP),
    Metric("blob_bytes", "B", None, "Size of the blob files; printed in tenths of a GiB.", DUMP),
    Metric("pending_compaction_bytes", "B", "lower", "Compaction debt as RocksDB estimates it (from 9.0).", DUMP),
    Metric("memtable_bytes", "B", None, "Memory of all memtables; needs the benchmark `memstats`.", DUMP),
    Metric("block_cache_bytes", "B", None, "What the block cache holds (from RocksDB 7.7).", DUMP),
    Metric("block_cache_capacity_bytes", "B", None, "What the block cache may hold (from RocksDB 6.22).", DUMP),
    Metric("uptime_seconds", "s", None, "How long the database has been open.", DUMP),
)
