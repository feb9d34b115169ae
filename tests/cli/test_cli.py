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


def test_help_names_every_command_and_imports_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    assert all(f"\n  {command}  " in said for command in every_command())
