"""What the steps of a result say is in a part's files; what a step lacks is missing there."""

import json

import pytest

from stepgrid.collect.figures.step_figures import StepFigures
from stepgrid.collect.tables import environment, parquet, part, part_index
from stepgrid.collect.tables.part import PARTS, Part
from stepgrid.model import result_schema
from stepgrid.model.figures import ClientRate
from stepgrid.model.plan import Options, PlannedStage, PlannedStep
from stepgrid.model.status import Result

SAID = StepFigures(
    metrics={"qps": 5.0, "p99_9_us": 7.0, "read_p50_us": 3.0},
    qps=[(1.0, 4.0), (2.0, 6.0)],
    warnings=["a", "b"],
    counters={"hits": 2.0},
    levels=[{"family": "default", "level": "L0", "files": 4.0}, {"family": "default", "priority": "Low"}],
    rates=[ClientRate(0, 1.0, "insert", 50.0, 900.0), ClientRate(3, 1.0, "", 0.0)],
)
SILENT = StepFigures(metrics={"operations": 1.0})
BROKEN = StepFigures(error="it is not readable")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Of the table of a part that has one result whose steps say this."""

    def written(table, *found):
        folders = [tmp_path / "result" / "steps" / f"{at}-x" for at in range(len(found))]
        for folder in folders:
            folder.mkdir(parents=True)
            (folder / "command.json").write_text(json.dumps({"argv": ["é", "1"], "env": {}}))
        steps = tuple(PlannedStep(f"x{at}", "db_bench", 1, {}, Options([]), 7) for at in range(len(found)))
        stage = PlannedStage("s-1", "t", "b-1", None, (), 0, 0, "h-1", steps, 1.0, 0)
        records = tuple({"seconds": 2.0, "probes": {"look": at}, "user": 0.5} for at in range(len(found)))
        result = Result(tmp_path / "result", steps=records, folders=tuple(folders))
        monkeypatch.setattr(part, "every", lambda _: [list(found)])
        whole = Part()
        if found:
            whole.add([(stage, result)])
        return read(whole, table)

    def read(whole, table):
        (tmp_path / part_index.HIDDEN).mkdir()
        with parquet.connect() as connection:
            whole.write(connection, part_index.paths(tmp_path, 0))
            table = parquet.files([part_index.paths(tmp_path, 0)[table]])
            found = connection.execute(f"SELECT * FROM {table}")
            names = [name for name, *_ in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    return written


def without_point(rows):
    return [tuple(value for name, value in row.items() if name not in ("stage", "attempt", "step")) for row in rows]


def test_series(rows):
    assert without_point(rows("series", SILENT, SAID, BROKEN)) == [(1, 1.0, 4.0), (1, 2.0, 6.0)]


def test_rates(rows):
    found = rows("rates", SILENT, SAID, BROKEN)
    assert without_point(found) == [(1, 0, 1.0, "insert", 50.0, 900.0), (1, 3, 1.0, None, 0.0, None)]
    assert [type(each["client"]) for each in found] == [int, int]


def test_latencies(rows):
    assert without_point(rows("latencies", SAID, SILENT)) == [(0, None, 99.9, 7.0), (0, "read", 50.0, 3.0)]


def test_levels(rows):
    found = rows("levels", SILENT, SAID)
    names = ("position", "family", "level", "priority", "files", "bytes")
    said = [(1, "default", "L0", None, 4.0, None), (1, "default", None, "Low", None, None)]
    assert [tuple(row[name] for name in names) for row in found] == said


def test_figures(rows):
    first, second, third = rows("figures", SAID, SILENT, BROKEN)
    assert list(first)[8:] == ["qps", "p99_9_us", "read_p50_us", "look", "operations"]
    assert tuple(first.values())[2:] == (0, *(first["folder"], None, None, "a\x1eb", 2.0, 5.0, 7.0, 3.0, 0.0, None))
    assert (second["warnings"], second["qps"], second["look"], second["operations"]) == ("", None, 1.0, 1.0)
    assert (third["error"], third["warnings"], third["look"]) == ("it is not readable", None, None)
    assert [each["step_seconds"] for each in (first, second, third)] == [2.0, 2.0, 2.0]


def test_a_probe_of_broken_steps_alone_has_its_column(rows):
    (row,) = rows("figures", BROKEN)
    assert list(row) == [*result_schema.figures(["look"])]


def test_the_environment_of_an_attempt(rows):
    found = [tuple(row.values()) for row in rows("attempts", BROKEN)]
    argv = ("command", "s-1/result/0", "argv", '["é", "1"]')
    assert found == [argv, (*argv[:2], "env", "{}"), (*argv[:2], "user", "0.5")]


def test_a_command_that_the_program_of_a_step_wrote_is_none(tmp_path):
    record = {"argv": 3, "env": {"a": {}}, "environment": [], "launch": 1, "more": 2}
    (tmp_path / "command.json").write_text(json.dumps(record))
    assert environment._command(tmp_path) == {}


@pytest.mark.parametrize("table", [*PARTS, "figures"])
def test_a_part_of_nothing(rows, table):
    assert rows(table) == []
