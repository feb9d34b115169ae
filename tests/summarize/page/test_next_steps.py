"""What a reader of a report may do next."""

from __future__ import annotations

import pytest

from stepgrid.model.plan import AdaptiveRepeat
from stepgrid.summarize.claims import Case, Claim
from stepgrid.summarize.page.next_steps import next_steps
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

SPEC = "specs/cache.yaml"


def _report(here, levels, **said):
    found = Experiment(here, threads=("1",), loads=len(levels), **said)
    for build in found.builds:
        found.add_build(build)
        for load, level in enumerate(levels):
            found.add_load(build, load, 300_000.0)
            for cache, rate in (("lru", 1000.0), ("hyper", 1000.0 * level)):
                found.add(build, cache, "1", load, {"readww": rate, "overwrite": rate})
    return scenario.report(found)


def _commands(report):
    return [step.command for step in next_steps(report)]


ALWAYS = [f"stepgrid explain {SPEC}", f"stepgrid compare p-synthetic {SPEC}"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_load_is_repeated(here):
    assert _commands(_report(here, [1.5])) == [f"stepgrid run {SPEC} --set repeat=3", *ALWAYS]


def test_what_is_inconclusive_gets_the_loads_that_would_tell(here):
    assert _commands(_report(here, [1.03, 0.99, 1.02])) == [f"stepgrid run {SPEC} --set repeat=4", *ALWAYS]


def test_where_loads_would_hardly_tell_something_else_may(here):
    assert _commands(_report(here, [3.0, 0.3, 1.0])) == [f"stepgrid plan {SPEC} --budget 2h", *ALWAYS]


def test_what_is_judged_may_be_surer(here):
    report = _report(here, [1.5, 1.5, 1.5])
    assert _commands(report) == [f"stepgrid run {SPEC} --set repeat=6", *ALWAYS]
    why = next_steps(report)[0].why
    assert why.startswith("surer: ")
    assert why.endswith("; `stepgrid plan` in place of `stepgrid run` says how long it takes")


def test_where_loads_are_added_until_it_is_decided_nobody_asks_for_more(here):
    assert _commands(scenario.altered(_report(here, [1.5, 1.5, 1.5]), until=AdaptiveRepeat(3, 12))) == ALWAYS


def test_a_scale_is_named_and_the_whole_is_offered(here):
    report = scenario.altered(_report(here, [1.5, 1.5, 1.5]), scale="smoke")
    assert _commands(report) == [
        f"stepgrid run {SPEC} --scale smoke --set repeat=6",
        f"stepgrid run {SPEC}",
        f"stepgrid explain {SPEC} --scale smoke",
        f"stepgrid compare p-synthetic {SPEC} --scale smoke",
    ]


def test_an_undecided_claim_asks_for_loads_and_its_table_has_all(here):
    claim = Claim("it is fast", "qps() > 1", "undecided", (Case("undecided", "", ()),))
    report = scenario.altered(_report(here, [1.5, 1.5, 1.5]), claims=(claim,))
    assert _commands(report) == [
        f"stepgrid run {SPEC} --set repeat=6",
        f"stepgrid report {SPEC} --table claims",
        *ALWAYS,
    ]


def test_what_is_missing_is_measured_first(here):
    found = scenario.experiment(here)
    assert _commands(scenario.report(found))[0] == f"stepgrid run {SPEC}"


def test_the_page_has_them_and_what_the_steps_do(here):
    _report(here, [1.5, 1.5, 1.5])
    page = next(here.rglob("index.html")).read_text(encoding="utf-8")
    assert f"<dt><code>stepgrid explain {SPEC}</code></dt>" in page
    said = "<th>benchmarks [readwhilewriting]; keys 1000</th>"
    assert f"<tr><th>readww</th><th>db_bench</th>{said}<th>" in page
    assert '<p class="note">db_bench: <code>benchmarks</code>: db_bench&#x27;s benchmarks in order;' in page


def test_a_host_that_was_not_quiet_is_to_be_looked_at(here):
    noisy = {"noise": {"s/1": {"warning": "others used 50 % of a core"}, "s/2": {"fixed": "turbo"}}}
    report = scenario.altered(_report(here, [1.5, 1.5, 1.5]), facts=noisy)
    assert f"stepgrid doctor {SPEC}" in _commands(report)
    assert f"stepgrid doctor {SPEC}" not in _commands(
        scenario.altered(report, facts={"noise": {"s/2": {"fixed": "turbo"}}})
    )
