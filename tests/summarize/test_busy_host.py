"""Reports of a host that others used: no verdict of speed in any form, and what can still be told."""

import json
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.collect.job import collect
from stepgrid.model.records import replace
from stepgrid.summarize import report_formats, summary_text
from stepgrid.summarize.data.tables_reader import Event
from stepgrid.summarize.notes import coverage, quiet_times
from stepgrid.summarize.report_files import read_report
from stepgrid.summarize.sentences import dip_text
from stepgrid.summarize.statistics.confidence_intervals import holm_limit
from stepgrid_share.results import ExportOptions, export_results
from tests.summarize import made
from tests.summarize.scenario import NEW
from tests.summarize.synthetic import Experiment

CLAIM = {"claim": "hyper is twice as fast", "expect": "qps(cache='hyper') >= 2 * qps(cache='lru')", "where": {}}
FORMS = ("text", "markdown", "html", "csv", "json")


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
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
def report(experiment):
    return read_report(experiment.store, experiment.plan.digest)


def _disturb(found, result):
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
def test_no_form_says_which_arm_is_faster(report, form):
    text = report_formats.report_text(report, form, None)
    assert "undecided (host busy)" in text
    assert "slower, certain" not in text
    assert '"verdict": "slower"' not in text


@pytest.mark.parametrize("form", FORMS)
def test_no_form_names_the_programs_of_others(report, form):
    assert "planted" not in report_formats.report_text(report, form, None)


def test_an_export_names_the_programs_of_others_only_with_host(experiment, tmp_path):
    for host, is_named in ((False, False), (True, True)):
        file = tmp_path / f"{host}.tar.gz"
        export_results(experiment.store, experiment.plan, file, ExportOptions(host=host))
        with tarfile.open(file) as archive:
            contents = [content.read() for member in archive if (content := archive.extractfile(member))]
        assert any(b"planted" in content for content in contents) is is_named


def test_the_answer_has_what_a_busy_host_can_tell_and_what_to_do(report):
    answer, _, _ = summary_text.text(report, None).partition("read with care")
    words = " ".join(answer.split())
    assert "cache=hyper: QPS undecided (host busy) against cache=lru, in both steps: 50 % came out" in words
    assert "CPU per operation 2.00× [" in words
    assert "then `stepgrid redo specs/cache.yaml --disturbed` measures them again" in words


RATES = (100, 100, 20, 30, 100, 100, 100, 10, 100, 100)
POINTS = [(float(second), float(rate)) for second, rate in enumerate(RATES, 1)]


def test_events_that_take_more_of_the_dips_are_named_the_strongest_first():
    events = [
        Event(2.0, 3.5, "checkpoint"),
        Event(7.2, 7.9, "checkpoint"),
        Event(2.5, 5.0, "flush"),
        Event(0, 10, "gc"),
    ]
    assert dip_text([(POINTS, events)]) == (
        "2 of 2 dips below half of the median QPS fall into checkpoints (73 % of the dips' time, 0 % of the rest), "
        "1 into flushes (50 % of the dips' time, 14 % of the rest)"
    )
    assert dip_text([(POINTS[:6], events[:1])]) == (
        "1 of 1 dip below half of the median QPS falls into checkpoints (75 % of the dips' time, 0 % of the rest)"
    )


def test_what_always_goes_on_explains_no_dip():
    assert dip_text([(POINTS, [Event(0.0, 10.0, "compaction")])]) == (
        "2 dips below half of the median QPS, in which no event of the engine takes clearly more time than else"
    )
    assert dip_text([(POINTS, [])]) == dip_text([(POINTS[:2], [Event(0.0, 1.0, "flush")])]) == ""


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.002]), min_size=1))
def test_the_limit_is_that_of_holms_procedure(chances):
    """A chance holds if it does after each is multiplied by how many are no smaller."""
    ranked = sorted(chances)
    adjusted = [max((len(ranked) - at) * ranked[at] for at in range(rank + 1)) for rank in range(len(ranked))]
    holding = [value for value, after in zip(ranked, adjusted, strict=True) if after <= 0.05]
    assert holm_limit(chances, 0.05) == max(holding, default=0.0)


def test_coverage_counts_shared_runs_once_and_groups_reasons():
    failed = [replace(made.run("x", load, 1.0), status="failed", reason="killed", log=f"{load}.log") for load in (1, 2)]
    found = coverage(
        [made.run("x", 0, 1.0), made.run("x", 0, 1.0), *failed, replace(made.run("y", 0, 1.0), measured=False)]
    )
    assert (found.total, found.incomplete, found.counts["done"]) == (3, 2, 1)
    (trouble,) = found.troubles
    assert (trouble.status, trouble.reason, trouble.runs, trouble.logs) == ("failed", "killed", 2, ("1.log", "2.log"))


def test_times_until_builds_were_quiet():
    def run(build, seconds, **fields):
        metrics = {} if seconds is None else {"quiesce_seconds": seconds}
        fields = {"step": "settle", "kind": "quiesce", **fields}
        return replace(made.run("a", 0, 1.0), build=build, metrics=metrics, **fields)

    runs = [run("innodb", 2.0), run("innodb", 3.0), run("innodb", 9.0), run("mysql", None), run("mysql", 0.25)]
    others = [run("innodb", 1.0, same_as="c-1"), run("mysql", None, attempt=None), run("mysql", 1.0, kind="sql")]
    assert list(quiet_times([*runs, *others, run("postgres", None, step="settle.post")])) == [
        "settle: innodb 3.00 s, mysql 0.250 s; not in time: mysql",
        "settle.post: not in time: postgres",
    ]
