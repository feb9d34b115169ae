"""stepgrid flame: where one cell's CPU goes that another's does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.store.store import Store
from tests.cli import test_report as made
from tests.cli.samples import SPEC
from tests.cli.test_plan import kept

CELLS = ("build=rocksdb-7.8.3,threads=1", "build=rocksdb-7.8.3,threads=2")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").mkdir()
    (tmp_path / "a.yaml").write_text(SPEC + made.REPORT)
    return tmp_path


def record() -> None:
    """In each step: of the cell with two threads a function that the other has not."""
    plan, store = kept(), Store(Path("outputs"))
    two = {repeat.stages[-1] for cell in plan.cells for repeat in cell.repeats if cell.labels["threads"] == "2"}
    for stage in plan.stages:
        result = store.result(stage.id)
        assert result is not None
        for step in (result / "steps").iterdir():
            place = step / "collectors" / "graph"
            place.mkdir(parents=True)
            (place / "collector.json").write_text(json.dumps({"collector": "perf_record", "name": "graph", "exit": 0}))
            (place / "stacks.txt").write_text(f"p;get 3\n{'p;burn 9' if stage.id in two else ''}\n")


def test_an_svg_of_two_cells(capsys: Capture, folder: Path) -> None:
    made.put(made.RATES)
    record()
    one, two = CELLS
    assert main(["flame", "a.yaml", two, one, "--step", "readww", "-o", "out.svg"]) == 0
    text = (folder / "out.svg").read_text(encoding="utf-8")
    assert f"readww, {two} against {one}: " in text
    assert "<title>burn: 0 to 5.68 µs of CPU per operation (+5.68)</title>" in text
    assert main(["flame", "a.yaml", two, one]) == 0
    assert capsys.readouterr().out.startswith("<svg ")


def test_what_was_not_recorded(capsys: Capture) -> None:
    made.put(made.RATES)
    assert main(["flame", "a.yaml", *CELLS, "--step", "readww"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        "no recordings of step `readww` in both cells: `collectors: [{collector: perf_record}]` makes them"
    )
    assert main(["flame", "a.yaml", "threads=3", CELLS[0]]) == 2
    assert capsys.readouterr().err == "axis `threads` has no cell at `3`: known here: 1, 2\n"
