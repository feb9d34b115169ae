"""Which release of RocksDB has which option or benchmark first, where its binary cannot be asked."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.plugins.capabilities import Release

# The first release that can, from db_bench's source at the release tags (tests/engines/test_rocksdb_source.py).
# `waitforcompaction` can hang under universal compaction before 8.7: for that there is a name of its own.
SINCE: Mapping[str, Release] = {
    "benchmark_read_rate_limit": (5, 1),
    "max_background_jobs": (5, 7),
    "mixgraph": (6, 0),
    "multiread_batched": (6, 2),
    "enable_blob_files": (6, 18),
    "waitforcompaction": (6, 19),
    "flush": (6, 19),
    "compact0": (6, 19),
    "compact1": (6, 19),
    "memstats": (6, 19),
    "prepopulate_block_cache": (6, 22),
    "async_io": (7, 2),
    "cache_type": (7, 4),
    "use_blob_cache": (7, 5),
    "prepopulate_blob_cache": (7, 6),
    "cache_low_pri_pool_ratio": (7, 6),
    "hyper_clock_cache": (7, 7),
    "multireadwhilewriting": (7, 9),
    "auto_hyper_clock_cache": (8, 6),
    "fixed_hyper_clock_cache": (8, 6),
    "waitforcompaction_universal": (8, 7),
}
