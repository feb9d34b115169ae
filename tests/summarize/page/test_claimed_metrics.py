"""What claims are about beside QPS stands in the answer, in the text and on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.summarize.page import answer, claimed_metrics, summary_text
from stepgrid.summarize.report import Report
from tests.summarize import scenario

CLAIMS = [
    {"claim": "costs less", "expect": "cpu_us_per_op(cache='hyper') < cpu_us_per_op(cache='lru')"},
    {"claim": "reaches it", "expect": "qps() > 0.95 * target_inserts_per_s()"},
]
SAID = "`cpu_us_per_op` / that of `cache=lru`: `cache=hyper` 0.67× to 2.26×"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("claimed"), claims=CLAIMS))


def test_each_metric_of_a_claim_but_qps_and_what_was_asked_for(report: Report) -> None:
    assert claimed_metrics.sentences(report.comparisons.claims, report.comparisons.all)[0] == SAID
    assert all(
        said.startswith("`cpu_us_per_op` / ")
        for said in claimed_metrics.sentences(report.comparisons.claims, report.comparisons.all)
    )
    assert claimed_metrics.sentences((), report.comparisons.all) == []


def test_the_text_has_them(report: Report) -> None:
    assert SAID in answer.lines(report)
    assert "claims      2 claims:" in summary_text.text(report, Path("index.html"))
