"""Published results become results like our own, or nothing does."""

import pytest

from stepgrid.cli import main
from stepgrid.collect import query
from stepgrid.collect.job import collect
from stepgrid.model.figures import Buckets, ClientRate, Figures, rows
from stepgrid.plan import plan_file
from stepgrid.store.results import changed_file
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid_published.importer import IMPORTERS, ImportedStep
from stepgrid_published.results import plan_results, publish
from tests.collect.reading import figures


def measured(build, step, qps=1.0, **more):
    return ImportedStep(build, step, Figures({"qps": qps}), **more)


def collected(store, steps):
    """By the stage's title."""
    plan = plan_results("sysbench", "title", "dir", steps).plan
    known = StatusReader(store, plan).read().nodes
    return {stage.title: known[stage.id] for stage in plan.stages}


def test_what_one_of_several_runs_lacks_is_missing(tmp_path):
    steps = [measured("a", "one"), measured("a", "two"), measured("a", "one", 2.0, load=1)]
    store = Store(tmp_path / "outputs")
    publish(store, plan_results("sysbench", "title", "dir", steps))
    assert {title: state.status for title, state in collected(store, steps).items()} == {
        "a, load 1: one": "done",
        "a, load 1: two": "done",
        "a, load 2: one": "done",
        "a, load 2: two": "missing",
    }


def test_figures_come_back_as_they_were_stated(tmp_path):
    raw = tmp_path / "sb.o"
    raw.write_text("raw")
    stated = Figures(
        {"qps": 3.0},
        {"fact": "text"},
        [(1.0, 2.0)],
        ["warning"],
        counters={"stalls": 2.0},
        levels=[{"level": "L0", "files": 3.0}],
        histograms=[Buckets("read", [0.0, 256.0], [256.0, 300.0], [9, 1]), Buckets("", [0.0], [1.0], [2])],
        rates=[ClientRate(1, 1.0, "insert", 2.5), ClientRate(0, 1.5, "query", 3.0, 4.0)],
    )
    steps = [ImportedStep("a", "one", stated, files=(raw,)), measured("a", "two", failure="it failed")]
    store = Store(tmp_path / "outputs")
    made = plan_results("sysbench", "title", "dir", steps)
    publish(store, made)
    result = collected(store, steps)["a, load 1: one, two"].result
    assert result is not None
    first, second = figures(result, made.plan.stages[0].steps)
    assert first.metrics["qps"] == 3.0
    assert first.facts["fact"] == "text"
    assert "warning" in first.warnings
    assert [tuple(pair) for pair in first.qps] == [(1.0, 2.0)]
    assert (first.counts, first.levels) == ([("engine", "stalls", 2.0)], [{"level": "L0", "files": 3.0}])
    assert list(rows(first.histograms)) == [("read", 0.0, 256.0, 9), ("read", 256.0, 300.0, 1), ("", 0.0, 1.0, 2)]
    assert [each.operation for each in first.histograms] == ["read", ""]
    assert first.rates == [(1, 1.0, "insert", 2.5, None), (0, 1.5, "query", 3.0, 4.0)]
    assert second.error == "two: it failed"
    assert (result.folders[0] / "sb.o").read_text() == "raw"
    assert changed_file(result) is None
    (result.folders[0] / "sb.o").write_text("RAW")
    assert changed_file(result) == "the checksum of `steps/0-one/sb.o` differs from the published one"


def test_a_stated_failure_is_no_fault_of_the_parser(tmp_path):
    steps = [measured("a", "one"), measured("a", "two", failure="it failed")]
    store = Store(tmp_path / "outputs")
    made = plan_results("sysbench", "title", "dir", steps)
    publish(store, made)
    collect(store, made.plan)
    folder = store.tables(made.plan.digest)
    with query.open_tables(folder) as tables:
        found = tables.execute("SELECT step, reason FROM steps WHERE status = 'failed'").fetchall()
    assert found == [("two", "two: it failed")]


def test_the_same_again_is_known_and_other_figures_are_other_results(tmp_path):
    store = Store(tmp_path / "outputs")
    first = plan_results("sysbench", "title", "dir", [measured("a", "one")])
    assert publish(store, first) == (1, 0)
    assert publish(store, first) == (0, 1)
    other = plan_results("sysbench", "title", "dir", [measured("a", "one", 2.0)])
    assert publish(store, other) == (1, 0)
    assert plan_file.read(store.plan(first.plan.digest)) == first.plan


def test_a_failure_on_the_way_publishes_nothing(tmp_path):
    raw = tmp_path / "sb.o"
    raw.write_text("raw")
    steps = [measured("a", "one"), measured("b", "one", files=(raw,))]
    made = plan_results("sysbench", "title", "dir", steps)
    raw.unlink()
    store = Store(tmp_path / "outputs")
    with pytest.raises(FileNotFoundError):
        publish(store, made)
    left = [path for path in store.root.rglob("*") if path.is_file() and path.parent.name != "locks"]
    assert left == []


def test_without_the_importers_it_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr(IMPORTERS, "points", {})
    assert main(["published", "sysbench", "."]) == 2
    assert capsys.readouterr().err == (
        "there is no kind of published results `sysbench`\n"
        "   = there is none here; `pip install 'stepgrid[importers]'` (in a checkout `make setup`) adds some\n"
    )
