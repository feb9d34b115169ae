"""After a change of the program a report says which of its statements about the same results came out otherwise."""

import json

import pytest

from stepgrid.plugins import registry
from stepgrid.summarize import report_files
from tests.summarize import scenario

CLAIM = {
    "claim": "more",
    "expect": "qps(cache='hyper') > qps(cache='lru')",
    "where": {"step": "readww", "threads": "1", "build": "rocksdb-7.8.3"},
}
NAME = "readww, rocksdb-7.8.3, threads=1, cache=hyper against cache=lru"


@pytest.fixture
def made(tmp_path):
    return scenario.experiment(tmp_path, claims=[CLAIM])


def edited(path, name, **said):
    """As another version would have written it."""
    known = json.loads(path.read_text())
    known["statements"][name] |= said
    path.write_text(json.dumps({**known, "revision": "older"}))


def test_statements_that_differ_are_named(made, capsys):
    report = scenario.report(made)
    path = made.store.verdicts(report.setup.plan)
    assert report_files.statements_of(report)[NAME]["said"] == "1.50× faster"
    assert capsys.readouterr().err == ""
    edited(path, NAME, said="1.50× undecided")
    edited(path, "claim `more`", said="undecided")
    report_files.write_report(made.store, report)
    assert capsys.readouterr().err.splitlines() == [
        "another version of stepgrid made this report before: 2 of 8 statements differ",
        f"{NAME}: 1.50× undecided before, 1.50× faster now",
        "claim `more`: undecided before, holds now",
    ]
    report_files.write_report(made.store, report)
    assert capsys.readouterr().err == "", "it is told once"
    edited(path, NAME, said="1.50× undecided")
    report_files.write_report(made.store, report)
    assert "1 of 8 statements differs\n" in capsys.readouterr().err


def test_what_was_said_of_other_results_is_not_compared(made, capsys):
    report = scenario.report(made)
    edited(made.store.verdicts(report.setup.plan), NAME, said="0.50× slower", results="others")
    report_files.write_report(made.store, report)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "text", ["", "[]", '{"statements": 3, "revision": "a"}', '{"statements": {"x": 1}, "revision": "a"}']
)
def test_a_damaged_file_says_nothing(made, text, capsys):
    report = scenario.report(made)
    made.store.verdicts(report.setup.plan).write_text(text)
    report_files.write_report(made.store, report)
    assert capsys.readouterr().err == ""


def test_a_report_of_a_kind_and_an_engine_that_are_not_installed_here(made, monkeypatch):
    """Of results that came from elsewhere: figures and verdicts are told, what only the plug-in knows is not."""
    scenario.report(made)
    text = scenario.text(made)
    functions = [value for value in vars(registry).values() if hasattr(value, "cache_clear")]
    monkeypatch.delitem(registry.DRIVERS.points, "db_bench")
    monkeypatch.delitem(registry.ENGINES.points, "rocksdb")
    for function in functions:
        function.cache_clear()
    try:
        report_files.write_report(made.store, report_files.read_report(made.store, made.plan.digest))
        elsewhere = scenario.text(made)
    finally:
        monkeypatch.undo()
        for function in functions:
            function.cache_clear()
    part = "QPS relative to cache=lru, 95 % intervals"
    assert part in text
    assert elsewhere.partition(part)[2].partition("\n\n")[0] == text.partition(part)[2].partition("\n\n")[0]
