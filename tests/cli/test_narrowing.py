"""--only and --set, and where they go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.cli import main
from stepgrid.cli.commands import command_parser
from stepgrid.cli.spec_arguments import narrowing
from stepgrid.workflow.host_plan import compile_for_host
from tests.cli.samples import SPEC

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(SPEC)
    return tmp_path


def test_only_some_cells(capsys: Capture) -> None:
    assert main(["check", "a.yaml", "--only", "threads == 2"]) == 0
    assert capsys.readouterr().out.startswith("a.yaml: fine; 2 cells, 2 builds, 4 stages; ")


def test_without_the_base_and_what_tables_and_claims_name(capsys: Capture, folder: Path) -> None:
    report = "report: {base: {threads: 1}, tables: [{title: a, rows: step, where: {threads: 1}, labels: {1: one}}]}\n"
    claims = 'claims: [{claim: c, expect: "qps(threads=2) > qps(threads=1)"}]\n'
    (folder / "a.yaml").write_text(f"{SPEC}{report}{claims}")
    assert main(["check", "a.yaml"]) == 0
    assert main(["check", "a.yaml", "--only", "threads == 2"]) == 0
    assert "no cell is at the base, threads 1: nothing can be compared with it" in capsys.readouterr().err


def test_a_label_that_no_cell_has_is_an_error_of_any_part_of_it(capsys: Capture, folder: Path) -> None:
    (folder / "a.yaml").write_text(f'{SPEC}claims: [{{claim: c, expect: "qps(threads=3) > qps(threads=1)"}}]\n')
    for words in ([], ["--only", "threads == 2"]):
        assert main(["check", "a.yaml", *words]) == 1
        assert "axis `threads` has no cell at `3`" in capsys.readouterr().err


def test_a_build_of_other_cells_is_there(capsys: Capture, folder: Path) -> None:
    plan = compile_for_host("a.yaml", None)
    first, last = (cell.labels["build"] for cell in (plan.cells[0], plan.cells[-1]))
    claim = f"qps(build='{first}') > qps(build='{last}')"
    (folder / "a.yaml").write_text(f'{SPEC}claims: [{{claim: c, expect: "{claim}"}}]\n')
    assert main(["check", "a.yaml", "--only", f"build == '{first}'"]) == 0


def test_another_value(capsys: Capture) -> None:
    assert main(["plan", "a.yaml", "--set", "params.duration=1m", "--set", "params.keys=1k"]) == 0
    assert "  to do    build: 2; measure: 6 stages, about 4m0" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--only", "x == 1", "--set", "a=1", "s.yaml", "--set", "b=2", "-j", "1"],
        ["s.yaml", "--only", "x == 1", "--set", "a=1", "--set", "b=2", "-j", "1"],
    ],
)
def test_run_takes_them_before_and_after_the_spec(arguments: list[str]) -> None:
    args = command_parser("run").parse_args(arguments)
    narrowed: dict[str, Any] = {"only": "x == 1", "set": ["a=1", "b=2"]}
    assert (args.spec, narrowing(args), args.more) == ("s.yaml", narrowed, ["-j", "1"])
