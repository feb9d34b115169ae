# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import OVERWRITE, spec

FIRES = {
    "direct-bytes-per-sync": [
        (spec(OVERWRITE, options="use_direct_io_for_flush_and_compaction: true, use_direct_reads: true, bytes_per_sync: 1MiB"), "`bytes_per_sync` is 1 MiB with direct writes, which leave nothing in the page cache to sync"),
    ],
    "direct-io-half": [
        (spec(OVERWRITE, options="use_direct_io_for_flush_and_compaction: true"), "`use_direct_io_for_flush_and_compaction` without `use_direct_reads`: the same files go through the page cache and past it"),
    ],
    "mmap-direct": [
        (spec(OVERWRITE, options="mmap_write: true, use_direct_reads: true, use_direct_io_for_flush_and_compaction: true"), "RocksDB refuses `mmap_write` together with `use_direct_io_for_flush_and_compaction`"),
    ],
}  # fmt: skip

QUIET = {
    "direct-bytes-per-sync": [spec(OVERWRITE, options="bytes_per_sync: 1MiB")],
    "direct-io-half": [
        spec(OVERWRITE, options="use_direct_reads: true, use_direct_io_for_flush_and_compaction: true"),
        spec(OVERWRITE),
    ],
    "mmap-direct": [spec(OVERWRITE, options="mmap_read: true, use_direct_reads: false")],
}  # fmt: skip
