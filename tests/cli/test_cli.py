from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.cli.commands import every_command

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: sid}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}
params: {keys: 200k, duration: 1m}
sweep: {threads: {param: threads, values: [1, 2], from: loaded}}
exclude: ["threads == 4"]
allow: {defaults-differ: a test, load-not-drained: a test, no-repeats: a test, writer-unlimited: a test}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(SPEC)
    return tmp_path


def test_a_fine_spec(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "a.yaml"]) == 0
    said = capsys.readouterr()
    assert said.out == "a.yaml: fine; 4 cells, 2 builds, 6 stages; about 4m02s of measuring\n"
    assert (
        said.err
        == """\
a.yaml:9:11: warning[exclude-nothing]: no cell matches this
   9 | exclude: ["threads == 4"]
     |           ^^^^^^^^^^^^
"""
    )


def test_wrong_specs_are_all_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "b.yaml").write_text(SPEC.replace("keys", "kees"))
    assert main(["check", "b.yaml", "a.yaml", "nothing.yaml"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("a.yaml: fine; ")
    assert "b.yaml:7:10: error[unknown-param]: no step takes the param `kees`" in said.err
    assert "b.yaml: 1 error and 1 warning" in said.err
    assert "nothing.yaml:1:1: error[file-not-found]: there is no file `nothing.yaml`" in said.err


@pytest.mark.parametrize("arguments", [[], ["chek", "a.yaml"], ["check"], ["plan", "a.yaml", "--no"], ["check", "--x"]])
def test_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: stepgrid" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("chek", "there is no command `chek`: did you mean `check`?"),
        ("a.yaml", "there is no command `a.yaml`: `stepgrid -h` lists them"),
    ],
)
def test_a_command_that_there_is_not(word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([word])
    assert end.value.code == 2
    assert capsys.readouterr().err == f"usage: stepgrid [-h] [--version] COMMAND ...\nstepgrid: error: {said}\n"


def test_help_names_every_command_and_imports_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    assert all(f"\n  {command}  " in said for command in every_command())
