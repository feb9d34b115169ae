"""Specs that tests of the expansion add to, and what they ask of a plan."""

from collections.abc import Callable

from stepgrid.model.plan import Plan

Compile = Callable[..., Plan]
BASE = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}
params: {keys: 1k, duration: 1s}
"""
SERVER = """\
title: t
builds: {maria: {engine: mariadb, version: 11.8, source: {debian: mariadb-server, suite: trixie}}}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}}}
steps:
  - {name: load, kind: sysbench, lua: load, tables: 1, rows: 10, threads: 1}
  - checkpoint: loaded
  - {name: point, kind: sysbench, lua: point_query, tables: 1, rows: 10, threads: 1, duration: 1s}
  - {name: more, kind: sysbench, lua: point_query, tables: 1, rows: 10, threads: 1, duration: 1s}
"""
SWEEP = "sweep: {cache: {from: loaded, points: {lru: {options: {a: 1}}, hyper: {options: {a: 2}}}}}\n"


def labels(plan, axis):
    return next(list(found.labels) for found in plan.axes if found.name == axis)


def ids(plan):
    return {stage.id for stage in plan.stages}
