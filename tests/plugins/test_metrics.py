from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.metrics_page import page
from stepgrid.collect.samples import PER_SECOND
from stepgrid.plugins.metrics import METRICS
from stepgrid_databases.drivers.db_bench import engine_statistics, output

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date() -> None:
    written = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    assert written == f"{page()}\n", "run: python -m scripts.metrics_page > docs/metrics.md"


def test_the_module_prints_the_page() -> None:
    command = [sys.executable, "-m", "scripts.metrics_page"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == f"{page()}\n"


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_defined(name: str) -> None:
    metric = METRICS[name]
    assert metric.name == name
    assert metric.unit
    assert metric.definition.endswith(".")
    assert metric.window
    assert "|" not in metric.definition
    assert metric.better in ("higher", "lower", None)


def test_figures_of_usage_are_in_the_table() -> None:
    assert METRICS.keys() >= set(PER_SECOND)


def test_every_kind_of_histogram_is_in_the_table() -> None:
    latencies = {*output.PERCENTILES.values(), "avg_us", "max_us"}
    assert latencies <= METRICS.keys()
    assert {f"{kind}_{name}" for kind in output.OPERATIONS for name in latencies} <= METRICS.keys()


def test_nothing_is_found_in_nothing() -> None:
    assert engine_statistics.engine_figures("") == {}
