"""Provenance: host, commands and next steps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import AdaptiveRepeat
from stepgrid.summarize import provenance
from stepgrid.summarize.claims import Case, Claim
from stepgrid.summarize.provenance import MANY, NextStep, StepCommand, command_line, host_line, shorten_commands
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

# Host


def test_one_host_and_what_of_it_is_known() -> None:
    hardware = {"cpu": "Xeon", "cores": 2, "storage": {"filesystem": "ext4", "device": "vda"}}
    hosts = {f"s-{number}/1": {"kernel": "6.1", "hostname": "n1"} for number in (1, 2)}
    assert host_line(hardware, hosts) == "Xeon, 2 cores, ext4 on vda, kernel 6.1"
    assert host_line({}, {}) == "not recorded"


def test_several_equal_hosts_are_counted_and_not_named() -> None:
    hosts = {f"s-{number}/1": {"kernel": "6.1", "hostname": f"n{number}"} for number in (1, 2, 3)}
    assert host_line({}, hosts) == "kernel 6.1, measured on 3 hosts"


# Commands

BUILD, STAGE = "b-8e5e315792f22ea2f8a0", "s-904641483eee4bf33522"


def said(argv: list[str], env: dict[str, str] | None = None) -> str:
    return command_line({"argv": json.dumps(argv), "env": json.dumps(env or {})})


def test_programs_of_builds_and_folders_of_steps_are_named_from_outputs_on() -> None:
    argv = [f"/srv/one/outputs/builds/{BUILD}/prefix/bin/db_bench", f"--db=/mnt/a/attempts/{STAGE}/steps/0-load/db"]
    path = {"LD_LIBRARY_PATH": f"/srv/one/outputs/builds/{BUILD}/lib:/usr/lib"}
    assert said(argv, path) == (
        f"LD_LIBRARY_PATH=outputs/builds/{BUILD}/lib:/usr/lib outputs/builds/{BUILD}/prefix/bin/db_bench"
        f" --db=outputs/attempts/{STAGE}/steps/0-load/db"
    )


def test_the_place_of_a_database_that_is_being_measured_is_shorten_commands() -> None:
    assert said(["db_bench", f"--db=/home/ann/x/outputs/live/{STAGE}.20616/data"]) == (
        f"db_bench --db=outputs/live/{STAGE}.20616/data"
    )


def test_a_search_path_of_lua_is_shortened_in_each_of_its_places() -> None:
    place = f"/x/outputs/attempts/{STAGE}/steps/0-l.i0/?.lua"
    short = f"outputs/attempts/{STAGE}/steps/0-l.i0/?.lua"
    assert said(["sysbench", "run"], {"LUA_PATH": f"{place};{place};;"}) == f"LUA_PATH='{short};{short};;' sysbench run"


def test_a_program_of_ours_is_python_with_its_module() -> None:
    argv = ["/srv/one/.venv/bin/python", "-m", "stepgrid.drivers.vector_search", "request.json"]
    assert said(argv, {"PYTHONPATH": "/srv/one/compiler", "A": "1"}) == (
        "A=1 python -m stepgrid.drivers.vector_search request.json"
    )


def test_a_program_of_somebody_else_keeps_its_words() -> None:
    argv = ["/opt/python", "-m", "their.client", "/data/attempts/today", "/data/builds/b-1"]
    assert said(argv, {"PYTHONPATH": "/opt/lib"}) == (
        "PYTHONPATH=/opt/lib /opt/python -m their.client /data/attempts/today /data/builds/b-1"
    )


def test_of_many_commands_the_first_is_whole_and_the_others_say_what_differs() -> None:
    few = [StepCommand(f"bits={bits}", f"db_bench --bits={bits} --db='my data' --n=1") for bits in range(MANY)]
    assert shorten_commands(few) == few
    more = StepCommand("more", "db_bench --bits=1 --db='my data' --n=2")
    (first, *others) = shorten_commands([*few, more, StepCommand("other", "db_bench")])
    assert first == few[0]
    assert others[0] == ("bits=1", "… --bits=1 …")
    assert others[-2:] == [("more", "… --bits=1 … --n=2 …"), ("other", "db_bench")]


# Next steps

SPEC = "specs/cache.yaml"


def _report(here: Path, levels: Sequence[float], **said: Any) -> Report:
    found = Experiment(here, threads=("1",), loads=len(levels), **said)
    for build in found.builds:
        found.add_build(build)
        for load, level in enumerate(levels):
            found.add_load(build, load, 300_000.0)
            for cache, rate in (("lru", 1000.0), ("hyper", 1000.0 * level)):
                found.add(build, cache, "1", load, {"readww": rate, "overwrite": rate})
    return scenario.report(found)


def next_steps(report: Report) -> list[NextStep]:
    comparisons, missing = report.comparisons, report.notes.coverage.incomplete
    return provenance.next_steps(report.setup, comparisons.leading, comparisons.claims, missing, report.data.facts)


def _commands(report: Report) -> list[str]:
    return [step.command for step in next_steps(report)]


ALWAYS = [f"stepgrid explain {SPEC}", f"stepgrid compare p-synthetic {SPEC}"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_load_is_repeated(here: Path) -> None:
    assert _commands(_report(here, [1.5])) == [f"stepgrid run {SPEC} --set repeat=3", *ALWAYS]


def test_what_is_inconclusive_gets_the_loads_that_would_tell(here: Path) -> None:
    assert _commands(_report(here, [1.03, 0.99, 1.02])) == [f"stepgrid run {SPEC} --set repeat=4", *ALWAYS]


def test_where_loads_would_hardly_tell_something_else_may(here: Path) -> None:
    assert _commands(_report(here, [3.0, 0.3, 1.0])) == [f"stepgrid plan {SPEC} --budget 2h", *ALWAYS]


def test_what_is_judged_may_be_surer(here: Path) -> None:
    report = _report(here, [1.5, 1.5, 1.5])
    assert _commands(report) == [f"stepgrid run {SPEC} --set repeat=6", *ALWAYS]
    why = next_steps(report)[0].why
    assert why.startswith("surer: ")
    assert why.endswith("; `stepgrid plan` in place of `stepgrid run` says how long it takes")


def test_where_loads_are_added_until_it_is_decided_nobody_asks_for_more(here: Path) -> None:
    assert _commands(scenario.altered(_report(here, [1.5, 1.5, 1.5]), until=AdaptiveRepeat(3, 12))) == ALWAYS


def test_a_scale_is_named_and_the_whole_is_offered(here: Path) -> None:
    report = scenario.altered(_report(here, [1.5, 1.5, 1.5]), scale="smoke")
    assert _commands(report) == [
        f"stepgrid run {SPEC} --scale smoke --set repeat=6",
        f"stepgrid run {SPEC}",
        f"stepgrid explain {SPEC} --scale smoke",
        f"stepgrid compare p-synthetic {SPEC} --scale smoke",
    ]


def test_an_undecided_claim_asks_for_loads_and_its_table_has_all(here: Path) -> None:
    claim = Claim("it is fast", "qps() > 1", "undecided", (Case("undecided", "", ()),))
    report = scenario.altered(_report(here, [1.5, 1.5, 1.5]), claims=(claim,))
    assert _commands(report) == [
        f"stepgrid run {SPEC} --set repeat=6",
        f"stepgrid report {SPEC} --table claims",
        *ALWAYS,
    ]


def test_what_is_missing_is_measured_first(here: Path) -> None:
    found = scenario.experiment(here)
    assert _commands(scenario.report(found))[0] == f"stepgrid run {SPEC}"


def test_the_page_has_them_and_what_the_steps_do(here: Path) -> None:
    _report(here, [1.5, 1.5, 1.5])
    page = next(here.rglob("index.html")).read_text(encoding="utf-8")
    assert f"<dt><code>stepgrid explain {SPEC}</code></dt>" in page
    said = "<th>benchmarks [readwhilewriting]; keys 1000</th>"
    assert f"<tr><th>readww</th><th>db_bench</th>{said}<th>" in page
    assert '<p class="note">db_bench: <code>benchmarks</code>: db_bench&#x27;s benchmarks in order;' in page


def test_a_host_that_was_not_quiet_is_to_be_looked_at(here: Path) -> None:
    noisy = {"noise": {"s/1": {"warning": "others used 50 % of a core"}, "s/2": {"fixed": "turbo"}}}
    report = scenario.altered(_report(here, [1.5, 1.5, 1.5]), facts=noisy)
    assert f"stepgrid doctor {SPEC}" in _commands(report)
    assert f"stepgrid doctor {SPEC}" not in _commands(
        scenario.altered(report, facts={"noise": {"s/2": {"fixed": "turbo"}}})
    )
