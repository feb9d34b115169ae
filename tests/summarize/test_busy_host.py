"""Reports of a host that others used: no verdict of speed in any form, and what can still be told."""

import json
import tarfile
from pathlib import Path

import pytest

from stepgrid.collect.job import collect
from stepgrid.summarize import report_formats, summary_text
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_files import read_report
from stepgrid.transfer.results import ExportOptions, export_results
from tests.summarize.scenario import NEW
from tests.summarize.synthetic import Experiment

CLAIM = {"claim": "hyper is twice as fast", "expect": "qps(cache='hyper') >= 2 * qps(cache='lru')", "where": {}}
FORMS = ("text", "markdown", "html", "csv", "json")


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """Hyper is half as fast at the same CPU of a step, before all of whose stages others used the host."""
    found = Experiment(tmp_path_factory.mktemp("busy"), threads=("1",), claims=[CLAIM])
    found.add_build(NEW)
    for load, level in enumerate((1.0, 1.01, 0.99)):
        found.add_load(NEW, load, 300_000 * level)
        for cache, rate in (("lru", 10_000 * level), ("hyper", 5_000 * level)):
            _disturb(found, found.add(NEW, cache, "1", load, {"readww": rate, "overwrite": rate}))
    collect(found.store, found.plan)
    return found


@pytest.fixture(scope="module")
def report(experiment: Experiment) -> Report:
    return read_report(experiment.store, experiment.plan.digest)


def _disturb(found: Experiment, result: Path) -> None:
    attempt = json.loads((result / "attempt.json").read_text())
    noise = {
        "warning": "others used 90 % of a core; busiest: planted-x; y 90 %; other runs: planted-run",
        "findings": [
            {
                "name": "cpu",
                "severity": "warning",
                "said": "others used 90 % of a core; busiest: planted-x; y (7) 90 %",
                "value": {"cores": 0.9, "busiest": [{"pid": 7, "name": "planted-x; y", "cores": 0.9}]},
                "mend": "ps -o pid,user,args -p 7",
                "travels": True,
            },
            {
                "name": "other runs",
                "severity": "warning",
                "said": "planted-run (8)",
                "value": [{"pid": 8, "name": "planted-run"}],
                "mend": "let it finish",
                "travels": True,
            },
            {"name": "cron", "severity": "warning", "said": "may start: planted-job", "value": ["planted-job"]},
        ],
    }
    (result / "attempt.json").write_text(json.dumps({**attempt, "noise": noise}))
    found.seal(result)


@pytest.mark.parametrize("form", FORMS)
def test_no_form_says_which_arm_is_faster(report: Report, form: str) -> None:
    text = report_formats.report_text(report, form, None)
    assert "undecided (host busy)" in text
    assert "slower, certain" not in text
    assert '"verdict": "slower"' not in text


@pytest.mark.parametrize("form", FORMS)
def test_no_form_names_the_programs_of_others(report: Report, form: str) -> None:
    assert "planted" not in report_formats.report_text(report, form, None)


def test_an_export_names_the_programs_of_others_only_with_host(experiment: Experiment, tmp_path: Path) -> None:
    for host, is_named in ((False, False), (True, True)):
        file = tmp_path / f"{host}.tar.gz"
        export_results(experiment.store, experiment.plan, file, ExportOptions(host=host))
        with tarfile.open(file) as archive:
            contents = [content.read() for member in archive if (content := archive.extractfile(member))]
        assert any(b"planted" in content for content in contents) is is_named


def test_the_answer_has_what_a_busy_host_can_tell_and_what_to_do(report: Report) -> None:
    answer, _, _ = summary_text.text(report, None).partition("read with care")
    words = " ".join(answer.split())
    assert "cache=hyper: QPS undecided (host busy) against cache=lru, in both steps: 50 % came out" in words
    assert "CPU per operation 2.00× [" in words
    assert "then `stepgrid redo specs/cache.yaml --disturbed` measures them again" in words
