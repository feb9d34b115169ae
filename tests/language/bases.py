"""A small spec and a sweep over it, for tests that add to them."""

BASE = """\
title: t
builds:
  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}
params: {keys: 1k, duration: 1s}
"""
SWEEP = """\
sweep:
  cache:
    from: loaded
    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_clock_cache}}}
"""
