"""Ids that must stay: results are kept under them. Another id for the same spec would measure everything again."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import Plan
from stepgrid.plan.assembly import compile_spec

ROOT = Path(__file__).resolve().parents[2]
HOST = {"cpu": "a", "cores": 2, "memory": 2**33, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}

WHOLE = """\
title: everything that reaches an id
builds:
  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: trixie}, options: {a: ä}}
  other: {engine: rocksdb, version: 8.5.4, source: {system: db_bench}, params: {keys: 2k}}
hardware: {cores: 4, memory: 16GiB}
options:
  - base
  - {block_size: 8KiB, ratio: 0.5, name: "007", direct: true, kept: {value: 1, when_unsupported: drop}}
  - {wal: "{{ options.block_size * params.threads }}", bits: [{when: "options.direct and threads > 1", value: 5}]}
define:
  options: {base: {engine: rocksdb, options: {bits: [{when: "version < '9'", value: 10}, {value: 12}], level: unset}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq, stats], fresh: true, duration: null, options: {sync: false}}
  - checkpoint: loaded
  - {name: again, kind: db_bench, benchmarks: [fillseq], when: "build == 'other'"}
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting, {when: "threads > 1", value: stats}]}
  - checkpoint: aged
  - {name: overwrite, kind: db_bench, benchmarks: [overwrite], writes: "{{ params.keys // params.threads }}"}
params: {keys: 1k, duration: 1s, threads: 1}
sweep:
  fanout: {option: max_bytes_for_level_multiplier, values: [8, 32]}
  cache: {from: loaded, points: {lru: {options: {c: lru}}, hyper: {options: {c: hyper}, when: "version > '8'"}}}
  threads: {param: threads, values: [1, 2]}
  rate: {steps: [overwrite], points: {slow: {params: {write_rate: 1MiB}}, fast: {params: {write_rate: 2MiB}}}}
exclude: ["cache == 'lru' and fanout == 32"]
also: [{build: other, cache: lru, fanout: 32, threads: 2}]
repeat: {loads: 2, runs: 2}
seed: 7
"""


def ids(plan: Plan) -> tuple[int, str, str]:
    """How many stages, a digest of their ids, and one of the cells' ids."""
    digests = (hashlib.sha256("\n".join(one.id for one in many).encode()).hexdigest() for many in _sorted(plan))
    stages, cells = (digest[:16] for digest in digests)
    return len(plan.stages), stages, cells


def _sorted(plan: Plan) -> tuple[list[Any], list[Any]]:
    return sorted(plan.stages, key=lambda stage: stage.id), sorted(plan.cells, key=lambda cell: cell.id)


def test_the_quickstart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert ids(compile_spec("specs/quickstart.yaml", None, HOST)) == (60, "07d36bde6a8782b7", "c4f78aad8930d74a")


def test_a_spec_of_everything(compile_text: Callable[..., Plan]) -> None:
    plan = compile_text(WHOLE)
    assert ids(plan) == (196, "197701d6cdcad1a6", "f55c6883d9c054ef")
    assert min(stage.id for stage in plan.stages) == "s-01dec2efc244673049a4"
