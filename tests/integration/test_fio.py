"""fio as Debian packs it, by the shipped spec at its smallest: any program is benchmarked without Python."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.integration.conftest import ROOT, Lab
from tests.needs import needs

pytestmark = [needs("apt"), pytest.mark.nightly]


def test_the_spec_runs_and_its_figures_are_those_of_fio(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.write((ROOT / "specs" / "fio.yaml").read_text(encoding="utf-8"))
    done = lab.run("--scale", "smoke", timeout=600)
    assert done.returncode == 0, done.stderr
    (tables,) = (tmp_path / "outputs/summary").glob("*/tables")
    with duckdb.connect() as connection:
        names = "axis_bs, axis_depth, qps, p99_us, mb_per_s, fio_cpu_pct"
        rows = connection.execute(
            f"SELECT {names} FROM '{tables}/steps.parquet' WHERE measured ORDER BY ALL"
        ).fetchall()
        (series,) = connection.execute(f"SELECT count(*) FROM '{tables}/series.parquet'").fetchall()
        (unit,) = connection.execute(
            f"SELECT unit FROM '{tables}/metrics.parquet' WHERE name = 'fio_cpu_pct'"
        ).fetchall()
    assert [row[:2] for row in rows] == [("4KiB", "1"), ("4KiB", "4"), ("64KiB", "1"), ("64KiB", "4")]
    assert series[0] >= 4  # a second has one, of each of the four
    assert unit == ("%",)
    said = {round(_read(path)["iops"], 3) for path in (tmp_path / "outputs/results").glob("*/*/steps/*/fio.json")}
    assert {round(row[2], 3) for row in rows} == said
    assert all(row[4] == pytest.approx(row[2] * int(row[0].removesuffix("KiB")) / 1024, rel=0.01) for row in rows)


def _read(path: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads(path.read_text())["jobs"][0]["read"]
    return found
