# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import OLD, OVERWRITE, spec

VECTOR = "memtablerep: vector, allow_concurrent_memtable_write: false"
SPEEDB = spec(options=VECTOR, version="8.6.7").replace(
    "system: db_bench", "maven: 'io.github.speedb-io:speedbjni:2.8.0'"
)

FIRES = {
    "vector-memtable-concurrent": [
        (spec(OVERWRITE, options="memtablerep: vector", version="10.2.1"), "RocksDB does not open a database with `memtablerep: vector` and concurrent memtable writes"),
        (spec(OVERWRITE, options="memtablerep: hash_linkedlist", version="11.8.1"), "RocksDB does not open a database with `memtablerep: hash_linkedlist` and concurrent memtable writes"),
        (spec(OVERWRITE, options="memtablerep: prefix_hash"), "RocksDB does not open a database with `memtablerep: prefix_hash` and concurrent memtable writes"),
    ],
    "vector-memtable-reads": [
        (spec(OVERWRITE, options="memtablerep: vector, allow_concurrent_memtable_write: false"), "step `s` has a vector memtable, which is for bulk loads: each read in it sorts or scans it"),
    ],
    "vector-memtable-speedb": [
        (SPEEDB, "Speedb's db_bench does not know `memtablerep: vector`: step `load` writes into a skip list, and nothing says so"),
        (SPEEDB.replace("maven: 'io.github.speedb-io:speedbjni:2.8.0'", "git: 'https://github.com/speedb-io/speedb.git', ref: v2.8.0"), "Speedb's db_bench does not know `memtablerep: vector`: step `load` writes into a skip list, and nothing says so"),
    ],
}  # fmt: skip

QUIET = {
    "vector-memtable-concurrent": [
        spec(OVERWRITE, options="memtablerep: vector, allow_concurrent_memtable_write: false"),
        spec(OVERWRITE, options="memtablerep: vector", version="10.4.2"),
        spec(OVERWRITE, options="memtablerep: vector", version="5.6.2", load=OLD),
        spec(OVERWRITE, options="memtablerep: skip_list"),
    ],
    "vector-memtable-reads": [
        spec(options="memtablerep: vector, allow_concurrent_memtable_write: false"),
        spec(OVERWRITE, options="memtablerep: skip_list"),
    ],
    "vector-memtable-speedb": [
        spec(options=VECTOR),
        SPEEDB.replace("vector", "hash_spdb"),
    ],
}  # fmt: skip
