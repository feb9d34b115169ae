import json
from pathlib import Path

import pytest

from stepgrid.cli import main
from tests.cli.samples import LIBRARY, SPEC


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_of_a_fine_spec_is_an_empty_list(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(SPEC)
    assert main(["check", "a.yaml", "--format", "json"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("[]\n", "")


def test_json_names_place_message_and_hint(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(SPEC.replace("title: t", "title: t\nreport: {bas: {threads: 1}}"))
    assert main(["check", "a.yaml", "--format", "json"]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert json.loads(said.out)[0] == {
        "code": "unknown-key",
        "severity": "error",
        "file": "a.yaml",
        "line": 2,
        "column": 10,
        "message": "`bas` is not a key here",
        "hint": "did you mean `base`?",
    }


def test_warnings_are_in_all_forms_and_change_no_status(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(SPEC + 'exclude: ["threads == 4"]\n')
    assert main(["check", "a.yaml", "--format", "json"]) == 0
    assert [(p["code"], p["severity"]) for p in json.loads(capsys.readouterr().out)] == [("exclude-nothing", "warning")]
    assert main(["check", "a.yaml", "--format", "github"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "::warning file=a.yaml,line=10,col=11,title=exclude-nothing::no cell matches this"
    )


def test_a_fault_of_a_library_is_one_problem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "lib.yaml").write_text(LIBRARY.replace("options:", "optons:"))
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(SPEC + "include: lib.yaml\n")
    assert main(["check", "a.yaml", "b.yaml", "--format", "json"]) == 1
    found = [p for p in json.loads(capsys.readouterr().out) if p["file"] == "lib.yaml"]
    assert [(p["code"], p["line"]) for p in found] == [("unknown-key", 2)]


def test_github_annotations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(SPEC.replace("title: t", "title: t\nreport: {bas: {threads: 1}}"))
    assert main(["check", "a.yaml", "--format", "github"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == (
        "::error file=a.yaml,line=2,col=10,title=unknown-key::`bas` is not a key here%0Adid you mean `base`?"
    )
