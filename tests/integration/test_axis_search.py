"""Searches on an axis as a run makes them: by a program that knows its limit, and by a limited RocksDB."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import BUILD, Lab

pytestmark = pytest.mark.integration
PROGRAM = """\
title: a program with a limit
builds: {sh: {engine: program, version: "1", source: {system: sh}}}
steps:
  - name: put
    kind: command
    argv: ["{program:sh}", "-c", "n={rate}; test $n -gt 700 && n=700; echo done: $n"]
    metrics: {achieved: {pattern: 'done: (\\d+)', better: higher}}
    for: {rate: {search: [10, 10000], for: "max rate where achieved >= rate", points: 12}}
repeat: 2
"""
LIMIT = 8  # MiB/s
LIMITED = f"""\
title: a limited RocksDB
builds:
  rocksdb: {BUILD}
options:
  - rate_limiter_bytes_per_sec: {LIMIT}MiB
    write_buffer_size: 1MiB
    value_size: 1000
    compression_type: none
    disable_auto_compactions: true
    level0_slowdown_writes_trigger: 1000
    level0_stop_writes_trigger: 1000
steps:
  - {{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null, threads: 1, mutates: true}}
  - checkpoint: loaded
  - name: writes
    kind: db_bench
    benchmarks: [overwrite]
    for:
      rate:
        param: write_rate
        search: [256KiB, 64MiB]  # a busy host reaches the lowest, too
        for: "max rate where mb_per_s * 1048576 > 0.95 * rate"
        points: 6
params: {{keys: 2k, duration: 2s, threads: 1}}
"""


def test_a_limited_rocksdb(lab: Lab):
    """Two seconds know the limit roughly, on a busy host: docs/search.md has what longer ones find."""
    lab.write(LIMITED)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    query = "SELECT tried_value / 1048576.0, tried_holds, mb_per_s FROM steps WHERE tried_value > 0 ORDER BY 1"
    rows = lab.execute(lab.argv("query", "--format", "csv", query)).stdout.splitlines()[1:]
    tried = [tuple(map(float, row.split(","))) for row in rows]
    assert len(tried) == 6
    assert all(holds == (reached > 0.95 * rate) for rate, holds, reached in tried if abs(reached / rate - 0.95) > 0.02)
    held = [rate for rate, holds, _ in tried if holds]
    assert held
    assert max(held) < 2 * LIMIT  # in so short a time the memtables take what the limiter does not let through


def test_a_program_with_a_limit(tmp_path: Path):
    lab = Lab(tmp_path)
    lab.write(PROGRAM)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    said = lab.execute(lab.argv("report", "spec.yaml", "--all")).stdout.splitlines()
    at = said.index("put: max rate where achieved >= rate")
    assert said[at + 2].split() == ["build", "rate", "that", "holds", "lowest-highest", "fails", "from", "loads"]
    build, held, ends, failed, loads = said[at + 3].split()
    assert (build, ends, loads) == ("sh", "-", "2")
    assert 700 / 1.04 < float(held) <= 700 < float(failed) < 700 * 1.04
    rows = lab.execute(
        lab.argv("query", "--format", "csv", "SELECT count(*), min(tried_value), sum(tried_holds) FROM steps")
    )
    count, least, holding = rows.stdout.splitlines()[1].split(",")
    assert (count, float(least) > 10, 2 <= float(holding) < 24) == ("24", True, True)
    assert "put: max rate where achieved &gt;= rate" in next(tmp_path.glob("outputs/summary/*/index.html")).read_text()


def test_what_the_search_needs_must_be_there(tmp_path: Path):
    lab = Lab(tmp_path)
    lab.write(PROGRAM.replace("echo done: $n", "echo done"))
    done = lab.run()
    assert done.returncode == 3
    assert "the search `max rate where achieved >= rate` cannot go on: `achieved` is not defined" in done.stderr
