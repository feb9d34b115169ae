# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import MACHINE, OVERWRITE, spec

FIRES = {
    "cache-type-lacking": [
        (spec(OVERWRITE, version="7.3.1", options="cache_type: lru_cache"), "RocksDB 7.3.1 has no option cache_type: it came with 7.4"),
        (spec(OVERWRITE, version="8.5.4", options="cache_type: auto_hyper_clock_cache"), "RocksDB 8.5.4 has no auto_hyper_clock_cache: it came with 8.6"),
        (spec(OVERWRITE, version="7.9.2", options="cache_type: fast_lru_cache"), "RocksDB 7.9.2 has no fast_lru_cache: it went with 7.9"),
    ],
    "cache-type-placeholder": [
        (spec(OVERWRITE, version="8.6.7", options="cache_type: auto_hyper_clock_cache"), "in RocksDB 8.6 auto_hyper_clock_cache is a placeholder: a table of fixed size, for entries of 450 bytes"),
    ],
    "cache-shards-tiny": [
        (spec(OVERWRITE, options="cache_size: 16MiB, cache_numshardbits: 6"), "64 shards of 256 KiB each: RocksDB itself makes none of lru_cache below 512 KiB"),
        (spec(OVERWRITE, options="cache_size: 1GiB, cache_numshardbits: 6", version="10.9.1"), "64 shards of 16 MiB each: RocksDB itself makes none of hyper_clock_cache below 32 MiB"),
    ],
    "cache-over-memory": [
        (spec(OVERWRITE, options="cache_size: 129GiB", rest=MACHINE), "`cache_size` is 129 GiB, the machine has 128 GiB"),
    ],
}  # fmt: skip

QUIET = {
    "cache-type-lacking": [
        spec(OVERWRITE, version="7.4.0", options="cache_type: lru_cache"),
        spec(OVERWRITE, version="7.3.1", options="cache_type: {value: lru_cache, when_unsupported: drop}"),
        spec(OVERWRITE, version="8.6.7", options="cache_type: auto_hyper_clock_cache"),
        spec(OVERWRITE, version="7.8.3", options="cache_type: fast_lru_cache"),
    ],
    "cache-type-placeholder": [
        spec(OVERWRITE, version="8.7.3", options="cache_type: auto_hyper_clock_cache"),
        spec(OVERWRITE, version="8.6.7", options="cache_type: hyper_clock_cache"),
    ],
    "cache-shards-tiny": [
        spec(OVERWRITE, options="cache_size: 32MiB, cache_numshardbits: 6"),
        spec(OVERWRITE, options="cache_size: 16MiB, cache_numshardbits: -1"),
        spec(OVERWRITE, options="cache_size: 90GiB, cache_numshardbits: 6, cache_type: auto_hyper_clock_cache"),
    ],
    "cache-over-memory": [
        spec(OVERWRITE, options="cache_size: 90GiB", rest=MACHINE),
        spec(OVERWRITE, options="cache_size: 90GiB", rest="hardware: {cores: 8}\n"),
    ],
}  # fmt: skip
