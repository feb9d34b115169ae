from pathlib import Path

import pytest

from scripts.metrics_page import page
from stepgrid.plugins.metrics import METRICS
from stepgrid_databases.drivers.db_bench import output

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date() -> None:
    written = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    assert written == f"{page()}\n", "run: python -m scripts.metrics_page > docs/reference/metrics.md"


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_defined(name: str) -> None:
    metric = METRICS[name]
    assert metric.name == name
    assert metric.unit
    assert metric.definition.endswith(".")
    assert metric.window
    assert "|" not in metric.definition
    assert metric.better in ("higher", "lower", None)


def test_every_kind_of_histogram_is_in_the_table() -> None:
    latencies = {*output.PERCENTILES.values(), "avg_us", "max_us"}
    assert latencies <= METRICS.keys()
    assert {f"{kind}_{name}" for kind in output.OPERATIONS for name in latencies} <= METRICS.keys()
