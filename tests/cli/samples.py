"""What tests of the command line have in common."""

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: sid}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}
params: {keys: 200k, duration: 60m}
sweep: {threads: {param: threads, values: [1, 2], from: loaded}}
allow: {defaults-differ: a test, load-not-drained: a test, no-repeats: a test, writer-unlimited: a test}
"""
LIBRARY = """\
define:
  options:
    small: {engine: rocksdb, options: {block_size: 4KiB}}
"""
REPORT = """\
report:
  base: {threads: 1}
  tables: [{title: threads, rows: build, columns: threads, where: {step: readww}, metrics: [qps, p50]}, iostat]
claims:
  - {claim: two threads do more, expect: "qps(threads=2) >= 1.5 * qps(threads=1)", where: {step: readww}}
"""
RATES = {"1": 1000.0, "2": 4000.0}
