"""Commands over an outputs/ of which a file was cut short or replaced: a sentence, or the file is made again."""

import contextlib
import io
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.plan.plan_file import is_intact
from tests.cli import samples, worlds

WRONG = ["", "{", "[]", "null", "[" * 100_000, "[" + "1" * 5000 + "]", '{"id": {}}']


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A checkout with results and a report; and what the report says."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "outputs").mkdir()
    (folder / "a.yaml").write_text(samples.SPEC + samples.REPORT)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as screen:
        worlds.put(samples.RATES)
        assert main(["report", "a.yaml"]) == 0
    return folder, screen.getvalue()


@pytest.fixture(autouse=True)
def folder(sound, tmp_path, monkeypatch):
    """A copy of it, to be damaged; and what the report says."""
    shutil.copytree(sound[0], tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return sound[1]


def plan():
    (found,) = (path for path in Path("outputs/plans").iterdir() if (path / "plan.jsonl").is_file())
    return found


@pytest.mark.parametrize("text", WRONG)
def test_the_file_of_a_plan(text, folder, capsys):
    (plan() / "plan.jsonl").write_text(text)
    assert not is_intact(plan())
    assert main(["report", "a.yaml"]) == 0
    assert capsys.readouterr().out == folder
    assert is_intact(plan())


def test_a_pipe_in_place_of_the_file_of_a_plan(folder, capsys):
    file = plan() / "plan.jsonl"
    file.unlink()
    os.mkfifo(file)
    for command in (["status", "a.yaml"], ["plan", "a.yaml"], ["builds"], ["gc"], ["results", "a.yaml"]):
        assert main(command) in (0, 1), command
    capsys.readouterr()
    assert main(["report", "a.yaml"]) == 0
    assert capsys.readouterr().out == folder


def test_a_plan_without_axes(capsys):
    head, *lines = (plan() / "plan.jsonl").read_text().splitlines()
    head = json.dumps({name: value for name, value in json.loads(head).items() if name != "axes"})
    (plan() / "plan.jsonl").write_text("\n".join([head, *lines]))
    for command in (["status", "a.yaml"], ["plan", "a.yaml"], ["builds"], ["gc"], ["results", "a.yaml"]):
        assert main(command) in (0, 1), command
        assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["steps", "series", "columns", "environment"])
def test_a_table_is_made_again(name, folder, capsys):
    (table,) = Path("outputs/summary").glob(f"*/tables/{name}.parquet")
    table.write_bytes(table.read_bytes()[:100])
    assert main(["query", "SELECT count(*) FROM steps"]) == 2
    assert "its tables are damaged: " in capsys.readouterr().err
    assert main(["counters", "a.yaml"]) == 2
    assert capsys.readouterr().err.endswith("; `stepgrid report` makes them again\n")
    assert main(["report", "a.yaml"]) == 0
    assert capsys.readouterr().out == folder


def test_a_build_whose_record_has_other_types(capsys):
    build = json.loads((plan() / "plan.jsonl").read_text().splitlines()[0])["builds"][0]["id"]
    there = Path("outputs/builds") / build
    there.mkdir(parents=True)
    for field in ('"seconds": "x"', '"warnings": [null]', '"quality": 3', '"artifacts": [{"name": []}]'):
        (there / "build.json").write_text(f'{{"id": "{build}", {field}}}')
        assert main(["builds"]) == 0
        assert f"{build}\n" in capsys.readouterr().out
        assert main(["report", "a.yaml"]) == 0


def test_what_nobody_foresaw_is_two_lines(monkeypatch, capsys):
    def fails(*_):
        raise RuntimeError("a\nb" * 1000)

    monkeypatch.setattr("stepgrid.cli.report.write_output", fails)
    assert main(["report", "a.yaml"]) == 3
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("`stepgrid report` stopped at an internal error: RuntimeError: a ba ba b")
    assert re.search(r"\(stepgrid/cli/report\.py:\d+\)$", first)
    assert len(first) < 320
    assert second == "   = a damaged file under outputs/, or a fault of stepgrid; STEPGRID_TRACEBACK=1 prints where"
    monkeypatch.setenv("STEPGRID_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        main(["report", "a.yaml"])


@pytest.mark.parametrize("field", ["status", "started", "ended", "reason"])
def test_a_result_whose_record_has_other_types(field, capsys):
    record = next(Path("outputs/results").glob("*/*/result.json"))
    for wrong in (3, True, {}, [1]):
        record.write_text(json.dumps({**json.loads(record.read_text()), field: wrong}))
        assert main(["results", "a.yaml"]) == 0, wrong
        assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["3", "[]", '{"seconds": [1]}', '{"warnings": 3}', '{"probes": [1]}'])
def test_a_result_whose_steps_have_other_types(wrong, capsys):
    record = next(Path("outputs/results").glob("*/*/result.json"))
    said = json.loads(record.read_text())
    record.write_text(json.dumps({**said, "steps": [json.loads(wrong), *said["steps"][1:]]}))
    shutil.rmtree("outputs/summary")
    assert main(["report", "a.yaml"]) == 0
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [[1], {}, "x", True])
def test_stated_figures_that_are_no_numbers(wrong, capsys):
    result = next(Path("outputs/results").glob("*/*/result.json"))
    said = {"metrics": {"qps": wrong}, "facts": {}, "qps": [], "warnings": [], "failure": ""}
    next(result.parent.glob("steps/0-*")).joinpath("stated.json").write_text(json.dumps(said))
    shutil.rmtree("outputs/summary")
    assert main(["report", "a.yaml"]) == 0
    assert "internal error" not in capsys.readouterr().err


def test_a_table_whose_column_has_another_name(capsys):
    (table,) = Path("outputs/summary").glob("*/tables/counters.parquet")
    table.write_bytes(table.read_bytes().replace(b"attempt", b"attXmpt"))
    assert main(["counters", "a.yaml"]) == 2
    assert capsys.readouterr().err.endswith("; `stepgrid report` makes them again\n")
