"""Reports of a host that others used: no verdict of speed in any form, and what can still be told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.collect.job import collect
from stepgrid.summarize import report_formats, summary_text
from stepgrid.summarize.ci_formats import github_annotations
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_files import read_report
from tests.summarize.scenario import NEW
from tests.summarize.synthetic import Experiment

CLAIM = {"claim": "hyper is twice as fast", "expect": "qps(cache='hyper') >= 2 * qps(cache='lru')", "where": {}}
FORMS = ("text", "markdown", "html", "csv", "json")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Hyper is half as fast at the same CPU of a step, before all of whose stages others used the host."""
    found = Experiment(tmp_path_factory.mktemp("busy"), threads=("1",), claims=[CLAIM])
    found.add_build(NEW)
    for load, level in enumerate((1.0, 1.01, 0.99)):
        found.add_load(NEW, load, 300_000 * level)
        for cache, rate in (("lru", 10_000 * level), ("hyper", 5_000 * level)):
            _disturb(found, found.add(NEW, cache, "1", load, {"readww": rate, "overwrite": rate}))
    collect(found.store, found.plan)
    return read_report(found.store, found.plan.digest)


def _disturb(found: Experiment, result: Path) -> None:
    attempt = json.loads((result / "attempt.json").read_text())
    noise = {"warning": "others used 90 % of a core"}
    (result / "attempt.json").write_text(json.dumps({**attempt, "noise": noise}))
    found.seal(result)


@pytest.mark.parametrize("form", FORMS)
def test_no_form_says_which_arm_is_faster(report: Report, form: str) -> None:
    text = report_formats.report_text(report, form, None)
    assert "undecided (host busy)" in text
    assert "slower, certain" not in text
    assert '"verdict": "slower"' not in text


def test_the_answer_has_what_a_busy_host_can_tell_and_what_to_do(report: Report) -> None:
    answer, _, _ = summary_text.text(report, None).partition("read with care")
    words = " ".join(answer.split())
    assert "cache=hyper: QPS undecided (host busy) against cache=lru, in both steps: 50 % came out" in words
    assert "CPU per operation 2.00× [" in words
    assert "then `stepgrid redo specs/cache.yaml --disturbed` measures them again" in words


def test_a_claim_is_undecided_and_an_annotation_no_error(report: Report) -> None:
    (claim,) = report.comparisons.claims
    assert claim.result == "undecided"
    assert claim.cases[0].notes == ("host busy: 3 of 3 loads disturbed",)
    annotations = github_annotations(report)
    assert "::error" not in annotations
    assert "QPS undecided (host busy)" in annotations
