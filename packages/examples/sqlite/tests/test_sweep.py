"""The spec, measured at its smallest scale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb

SPEC = Path(__file__).parents[1] / "sqlite.yaml"


def test_the_spec_is_measured(tmp_path: Path) -> None:
    folder = Path(os.environ.get("SWEEP_FOLDER", tmp_path))  # a run that is there already is not made again
    words = ["-m", "stepgrid.cli", "run", str(SPEC), "--scale", "smoke"]
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (tables,) = folder.glob("outputs/summary/*/tables")
    asked = "select step, operations, count(distinct stage), min(seconds)"
    found = duckdb.sql(f"{asked} from '{tables}/steps.parquet' group by all order by 1").fetchall()
    assert [each[:3] for each in found] == [("load", 20000.0, 2), ("lookups", 5000.0, 4), ("updates", 5000.0, 4)]
    assert all(seconds > 0 for *_, seconds in found)
    scripts = [path.read_text() for path in folder.glob("outputs/results/*/*/steps/*-updates/script.sql")]
    assert {tuple(script.splitlines()[:2]) for script in scripts} == {
        (f"PRAGMA cache_size = {cache};", f"PRAGMA journal_mode = {mode};")
        for cache in (-2000, -200000)
        for mode in ("delete", "wal")
    }
