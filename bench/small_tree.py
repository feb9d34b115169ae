"""A spec's beginning: a package of RocksDB whose tree has several levels from a few hundred thousand keys on."""

from __future__ import annotations

SMALL_TREE = """\
include: [{library}/rocksdb.yaml, {library}/db_bench.yaml]
hardware: here
builds:
  rocksdb: {{engine: rocksdb, version: 9.10.0, source: {{debian: rocksdb-tools, suite: trixie}}}}
options:
  - leveled
  - cache_size: 256MiB
    write_buffer_size: 4MiB
    target_file_size_base: 4MiB
    max_bytes_for_level_base: 16MiB
    compression_type: none
"""
