"""`plan --machines`: how long several machines take, who does what, and what one more would save."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from stepgrid.cli import main

Capture = pytest.CaptureFixture[str]
SPEC = """\
title: two loads, three points
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
params: {size: 1, cache: a}
steps:
  - {name: load, kind: command, argv: [sh, -c, "true"], duration: 60s, measured: false, mutates: true}
  - checkpoint: there
  - {name: go, kind: command, argv: [sh, -c, "echo {{ params.size }} {{ params.cache }}"], duration: 300s,
     metrics: {qps: {pattern: '(\\d+)'}}}
sweep:
  cache: {param: cache, values: [a, b], from: there}
  size: {param: size, values: [1, 2], from: there}
repeat: 2
report: {base: {cache: a}}
"""


@pytest.fixture(autouse=True)
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(SPEC)


def test_as_text(capsys: Capture) -> None:
    assert main(["plan", "a.yaml", "--machines", "4"]) == 0
    first, second, third, fourth, *chart = capsys.readouterr().out.splitlines()
    assert first == "4 machines: 11m00s; one alone: 42m00s (3.8 times as long)"
    assert second == (
        "4 groups of what is compared within a load; the shortest possible: 11m00s; one more saves nothing"
    )
    assert third == "made again, as what is compared stays on one machine: 2 stages (2m00s)"
    assert fourth == "1 build or stage of unknown length, taken for nothing"
    assert [line[:5] for line in chart] == ["   1 ", "   2 ", "   3 ", "   4 ", "     ", "     "]
    assert sorted(line[5:] for line in chart[:4]) == ["█" * 72] * 2 + ["▒" * 7 + "█" * 65] * 2


def test_as_json_and_svg(capsys: Capture) -> None:
    assert main(["plan", "a.yaml", "--machines", "2", "--format", "json", "--gantt", "g.svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["seconds"], found["seconds_alone"], found["shortest_possible"]) == (1260, 2520, 1260)
    assert {job["machine"] for job in found["jobs"]} == {1, 2}
    chart = ET.parse("g.svg").getroot()
    bars = chart.findall("{http://www.w3.org/2000/svg}rect")
    assert len(bars) == len(found["jobs"])


@pytest.mark.parametrize("number", ["0", "x", "-1", "1001"])
def test_a_number_that_is_none(number: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["plan", "a.yaml", f"--machines={number}"])
    assert "argument --machines: wanted a number of machines, 1 to 1000\n" in capsys.readouterr().err
