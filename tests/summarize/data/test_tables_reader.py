"""Tables of a plan read back: its runs, and the details of steps."""

from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.collect.job import collect
from stepgrid.collect.parquet import connect, write_rows
from stepgrid.model.figures import LATENCY_CLASSES
from stepgrid.model.records import replace
from stepgrid.model.result_schema import HISTOGRAMS
from stepgrid.summarize.data import tables_reader
from stepgrid.summarize.data.points import choose_points
from stepgrid.summarize.data.tables_reader import ClientLine, StepDetails
from tests.importers.insert_benchmark.made import run as imported_run
from tests.summarize import scenario
from tests.summarize.made import point, run

NONE = [0.0] * (len(LATENCY_CLASSES) - 1)
STEP = {"stage": "s-1", "attempt": "a", "position": 0, "step": "x"}


def details(folder, table, columns, rows):
    with connect() as connection:
        write_rows(connection, folder / f"{table}.parquet", columns, rows)
    return StepDetails(folder)


def test_a_step_has_labels_of_the_axes_that_change_it(tmp_path):
    experiment = scenario.experiment(tmp_path)
    collect(experiment.store, experiment.plan)
    loaded = tables_reader.load(experiment.store.summary("p-synthetic") / "tables", ["build", "cache", "threads"])
    axes = {step: {tuple(run.labels) for run in loaded.runs if run.step == step} for step in ("fillseq", "readww")}
    assert axes == {"fillseq": {("build",)}, "readww": {("build", "cache", "threads")}}
    failed = [run for run in loaded.runs if run.status not in ("done", "unsupported")]
    assert failed
    assert not any(run.metrics for run in failed)


def test_a_bucket_is_in_the_first_class_that_holds_it(tmp_path):
    """Count a bucket at a limit below it, and one that lies across it above; without an operation it is of all."""
    most = {256: 2, 257: 1, 1000: 1, 4001: 1, 16e6: 1, 17e6: 4}
    rows = [{**STEP, "operation": None, "least": 0, "most": at, "operations": count} for at, count in most.items()]
    assert details(tmp_path, "histograms", HISTOGRAMS, rows).response_times == {
        ("s-1", 0): {"": [20.0, 20.0, 0.0, 10.0, *NONE[5:], 10.0, 40.0]}
    }


def test_published_histograms_have_shares_by_operation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    imported_run(tmp_path / "published")
    assert main(["published", "insert_benchmark", "published"]) == 0
    (summary,) = Path("outputs/summary").iterdir()
    shares = StepDetails(summary / "tables").response_times
    assert sorted(operation for each in shares.values() for operation in each) == ["insert", "insert", "query", "query"]
    assert next(each["insert"] for each in shares.values()) == [75.0, 0.0, 0.0, 25.0, *[0.0] * 6]
    text = (summary / "summary.txt").read_text()
    table = text.partition("response times by class: qr100.L1, query\n")[2].split("\n\n")[0]
    assert "99.999  0.000  0.000  0.000  0.001  0.000  0.000  0.000  0.000  0.000  0.054" in table
    assert "response times by class: l.i0, insert\n" in text
    assert "response times by class: l.i0, delete\n" not in text


@pytest.mark.parametrize(
    ("seconds", "points"), [([1.8, 2.8, 3.0], 2), ([1.8, 2.8, 3.3], 3), ([1.0], 1), ([0.8, 1.0], 1), ([], 0)]
)
def test_a_short_interval_at_the_end_is_no_point_of_the_line(seconds, points):
    """A rate says little of a fifth of a second: the rows of a pause come when a second begins."""
    assert len(ClientLine(0, seconds, [5.0] * len(seconds)).points) == points


# The seconds of every run, from the tables.

# Points by their builds: a family means its versions, but a build that has the name means itself.

ENGINES = ["innodb", "innodb-compressed", "myrocks"]


@pytest.mark.parametrize(
    ("builds", "wanted", "names"),
    [
        (["innodb-5.7", "innodb-8.0", "myrocks"], "innodb", ["innodb-5.7", "innodb-8.0"]),
        (ENGINES, "innodb", ["innodb"]),
        (ENGINES, ENGINES[1:], ENGINES[1:]),
    ],
)
def test_a_build_or_its_family(builds, wanted, names):
    points = [replace(point(run(name, 0, 1.0)), labels={"build": name}) for name in builds]
    assert [chosen.labels["build"] for chosen in choose_points(points, {"build": wanted})] == names


def test_labels_by_value_places_of_a_live_grid_and_points_that_an_axis_does_not_touch():
    search = replace(point(run("x", 0, 1.0)), step="search", labels={"ef": "10", "clients": "1"})
    load = replace(point(run("x", 0, 1.0)), step="load", labels={})
    points = [search, load]
    assert choose_points(points, {"ef": 10}) == points
    assert choose_points(points, {"ef": "20"}) == [load]
    assert choose_points(points, {"step": "search[ef=10,clients=1]"}) == [search]
    assert choose_points(points, {"step": ["search[ef=20]", "load"]}) == [load]
