"""Wrong specs and exactly what is said about them: place, code, sentence, hint."""

from stepgrid.language.sources import SOURCES

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

KINDS = f"one of: {', '.join(SOURCES)}"

# what lint says of BASE and of a sweep over it, in every case that gets so far: not repeated in each
OF_BASE = frozenset({
    "no-repeats", "defaults-differ", "load-not-drained", "rows-few", "step-short", "writer-unlimited"
})  # fmt: skip

Said = tuple[str, list[tuple[str, str, str, str]]]
