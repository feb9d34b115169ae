# ruff: noqa: E501
"""Rules of compiler.lint.memtable."""

from tests.lint.rules import OLD, OVERWRITE, spec

FIRES = {
    "vector-memtable-concurrent": [
        (spec(OVERWRITE, options="memtablerep: vector", version="10.2.1"), "RocksDB does not open a database with `memtablerep: vector` and concurrent memtable writes"),
        (spec(OVERWRITE, options="memtablerep: hash_linkedlist", version="11.8.1"), "RocksDB does not open a database with `memtablerep: hash_linkedlist` and concurrent memtable writes"),
        (spec(OVERWRITE, options="memtablerep: prefix_hash"), "RocksDB does not open a database with `memtablerep: prefix_hash` and concurrent memtable writes"),
    ],
    "vector-memtable-reads": [
        (spec(OVERWRITE, options="memtablerep: vector, allow_concurrent_memtable_write: false"), "step `s` has a vector memtable, which is for bulk loads: each read in it sorts or scans it"),
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
}  # fmt: skip
