"""A script and its data beside the spec: they run as the spec names them, and an edit of either measures again."""

from __future__ import annotations

from pathlib import Path

from stepgrid.host import files
from tests.integration.conftest import Lab

SPEC = """\
title: a script beside the spec
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps:
  - {name: put, kind: command, argv: [./my.sh, data.csv, "{folder}"], metrics: {rows: {pattern: '(\\d+) rows'}}}
allow: {no-repeats: a test, step-short: a test}
"""
SCRIPT = '#!/bin/sh\necho "$(wc -l < $1) rows in $0"\n'


def test_a_script_and_its_data(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.write(SPEC)
    (tmp_path / "my.sh").write_text(SCRIPT)
    (tmp_path / "my.sh").chmod(0o755)
    (tmp_path / "data.csv").write_text("1\n2\n")

    def measured() -> int:
        done = lab.run()
        assert done.returncode == 0, done.stderr
        return len(lab.results())

    assert measured() == 1
    (result,) = lab.results()
    folder = tmp_path / "outputs/results" / result.rpartition("/result.json")[0]
    (output,) = folder.glob("**/steps/0-put/stdout")
    assert output.read_text() == f"2 rows in {tmp_path}/my.sh\n"
    contents = files.read_json(output.parents[2] / "attempt.json")["contents"]
    assert [name for name in contents if ".so." not in name] == ["0/./my.sh", "0/data.csv"]
    assert measured() == 1
    (tmp_path / "data.csv").write_text("1\n2\n3\n")
    assert measured() == 2
    (tmp_path / "my.sh").write_text(SCRIPT + "true\n")
    assert measured() == 3
