"""The spec, measured at its smallest scale."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb

SPEC = Path(__file__).parents[1] / "valkey.yaml"


def test_the_spec_is_measured(tmp_path: Path) -> None:
    folder = Path(os.environ.get("SWEEP_FOLDER", tmp_path))  # a run that is there already is not made again
    words = ["-m", "stepgrid.cli", "run", str(SPEC), "--scale", "smoke"]
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (tables,) = folder.glob("outputs/summary/*/tables")
    asked = f"select step, axis_threads, qps, operations from '{tables}/steps.parquet' where measured order by all"
    steps = duckdb.sql(asked)
    assert [(step, threads, operations) for step, threads, _, operations in steps.fetchall()] == [
        ("get", "1", 20000.0), ("get", "2", 20000.0), ("set", "1", 20000.0), ("set", "2", 20000.0)]  # fmt: skip
    looked = "step = 'get' and name in ('keyspace_hits', 'keyspace_misses')"
    hits = duckdb.sql(f"select sum(grown) from '{tables}/counters.parquet' where {looked}")
    assert hits.fetchall() == [(40000.0,)]  # each get found its key, or did not
    effective = [json.loads(path.read_text()) for path in folder.glob("outputs/results/*/*/server/effective.json")]
    assert {each["values"]["maxmemory"] for each in effective} == {str(4 * 2**30)}
