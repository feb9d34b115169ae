"""stepgrid check SPEC --try FILE: what each metric of a step would be, by a sample of its output."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from stepgrid.cli import main

SPEC = """\
title: t
builds: {mine: {engine: program, versions: ["1.0", "2.0"], source: {system: sh}}}
steps:
  - name: get
    kind: command
    argv: ["{program:sh}"]
    metrics:
      qps: {pattern: 'ops per second: (\\S+)', required: true}
      p99:
        - {when: "version < '2'", value: {pattern: 'p99 (\\S+) ms', unit: ms}}
        - value: {json: $.p99, unit: ms}
      bytes: {json: $.bytes, file: out.json}
    series: {file: rates.csv, time: s, rate: ops}
repeat: 2
"""
SAMPLE = "ops per second: 1200.5\np99 0.25 ms\n"
OTHER_STEP = "  - {name: put, kind: command, argv: [x], metrics: {qps: {pattern: '(.)'}}}\nrepeat:"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(SPEC)
    (tmp_path / "sample.txt").write_text(SAMPLE)
    return tmp_path


def attempt(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    status = main(["check", "a.yaml", *words])
    captured = capsys.readouterr()
    return status, [line for line in (captured.out + captured.err).splitlines() if "fine; " not in line]


def test_each_way_in_which_builds_read_a_sample(capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = attempt(capsys, "--try", "sample.txt")
    assert status == 1
    assert lines == [
        "sample.txt as the output of get of mine-1.0:",
        "  qps: 1,200.5",
        "  p99: 0.25 ms",
        "  bytes: no figure: there is no file out.json",
        "  series: no figure: there is no file rates.csv",
        "sample.txt as the output of get of mine-2.0:",
        "  qps: 1,200.5",
        "  p99: no figure: stdout holds no JSON: no line begins with { or [",
        "  bytes: no figure: there is no file out.json",
        "  series: no figure: there is no file rates.csv",
    ]


def test_a_pattern_that_never_matches_is_shown_with_the_nearest_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.yaml").write_text(SPEC.replace("ops per second", "opps per second"))
    status, lines = attempt(capsys, "--try", "get=sample.txt", "--only", "version == '1.0'")
    assert status == 1
    assert lines[1:3] == [
        r"  qps: no figure: nothing in stdout or stderr matches opps per second: (\S+)",
        "    the nearest line: ops per second: 1200.5",
    ]


def test_a_folder_has_all_files_of_a_step(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "step").mkdir()
    texts = {"stdout": SAMPLE, "stderr": "", "out.json": '{"bytes": 7}', "rates.csv": "s,ops\n1,10\n2,20\n"}
    for name, text in texts.items():
        (folder / "step" / name).write_text(text)
    status, lines = attempt(capsys, "--try", "get=step", "--only", "version == '1.0'")
    assert (status, lines[3:]) == (0, ["  bytes: 7", "  series: 15 /s, mean of 2 rows"])


def test_a_sample_from_a_pipe_is_read_in_each_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=(folder / "pipe").write_text, args=(SAMPLE,))
    writer.start()
    _, lines = attempt(capsys, "--try", "pipe")
    writer.join()
    assert lines.count("  qps: 1,200.5") == 2


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ("gte=sample.txt", "--try gte=sample.txt: no step `gte` declares metrics\n   = did you mean `get`?"),
        ("none.txt", "--try none.txt: there is no such file"),
    ],
)
def test_a_sample_that_cannot_be_tried(sample: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = attempt(capsys, "--try", sample)
    assert (status, "\n".join(lines)) == (2, message)


def test_which_step_has_to_be_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(SPEC.replace("repeat:", OTHER_STEP))
    _, lines = attempt(capsys, "--try", "sample.txt")
    assert lines == [
        "--try sample.txt: several steps declare metrics (get, put): say which, as in `--try get=sample.txt`"
    ]
