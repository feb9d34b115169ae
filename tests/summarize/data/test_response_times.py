"""Histograms as shares of classes: read from the tables of a plan, put together over the loads, shown in a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.collect import query
from stepgrid.collect.parquet import connect, write_rows
from stepgrid.model.figures import LATENCY_CLASSES
from stepgrid.model.result_schema import HISTOGRAMS
from stepgrid.summarize.data.response_times import shares, together
from tests.importers.insert_benchmark.made import run

NONE = [0.0] * (len(LATENCY_CLASSES) - 1)


@pytest.fixture
def summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run(tmp_path / "published")
    assert main(["import", "insert_benchmark", "published"]) == 0
    (found,) = Path("outputs/summary").iterdir()
    return found


def test_published_histograms_are_shown_without_being_asked_for(summary: Path) -> None:
    text = (summary / "summary.txt").read_text()
    table = text.partition("response times by class: qr100.L1, query\n")[2].split("\n\n")[0]
    assert "99.999  0.000  0.000  0.000  0.001  0.000  0.000  0.000  0.000  0.000  0.054" in table
    assert "response times by class: l.i0, insert\n" in text
    assert "response times by class: l.i0, delete\n" not in text


def test_each_operation_has_its_shares(summary: Path) -> None:
    found = shares(summary / "tables")
    assert sorted(operation for each in found.values() for operation in each) == ["insert", "insert", "query", "query"]
    inserts = [each["insert"] for each in found.values()]
    assert inserts[0] == [75.0, 0.0, 0.0, 25.0, *[0.0] * 6]


def test_loads_count_alike() -> None:
    runs = [{"query": [100.0, *NONE]}, {"query": [50.0, 50.0, *NONE[1:]], "insert": [100.0, *NONE]}]
    assert together(runs) == {"query": [75.0, 25.0, *NONE[1:]], "insert": [100.0, *NONE]}
    assert together([]) == {}


def test_a_bucket_is_in_the_first_class_that_holds_it(tmp_path: Path) -> None:
    """At the limit still; one that lies across it is above it. NULL is all operations."""
    most = {256: 2, 257: 1, 1000: 1, 4001: 1, 16e6: 1, 17e6: 4}
    point = {"stage": "s-1", "attempt": "a", "position": 0, "step": "x", "operation": None, "least": 0}
    with connect() as connection:
        for name in query.NAMES:
            rows = [{**point, "most": at, "operations": count} for at, count in most.items()]
            columns = HISTOGRAMS if name == "histograms" else {"x": "INTEGER"}
            write_rows(connection, tmp_path / f"{name}.parquet", columns, rows if name == "histograms" else [])
    assert shares(tmp_path) == {("s-1", 0): {"": [20.0, 20.0, 0.0, 10.0, *NONE[5:], 10.0, 40.0]}}
