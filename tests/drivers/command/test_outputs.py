"""Metrics of JSON and of files, and the series of a table that a command wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import Figures, ParseError
from stepgrid.plugins.drivers import running

DRIVER = running("command")
FIO = 'fio: a note {\n{"jobs": [{"iops": 10.5, "lat": "7"}, {"iops": 20, "lat": null}], "on": true}\nbye\n'
LOG = "1000, 10, 0, 4096\n1000, 5, 1, 4096\n2000, 7, 0, 4096\n\n"


def _parsed(folder: Path, texts: dict[str, str], **settings: Any) -> Figures:
    for name, text in {"stdout": "", "stderr": "", **texts}.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = DRIVER.settings_model().model_validate({"argv": ["x"], **settings}).model_dump(mode="json")
    return DRIVER.parse(folder, found)


def _metric(folder: Path, text: str, **metric: Any) -> float | None:
    return _parsed(folder, {"stdout": text}, metrics={"x": metric}).metrics.get("x")


@pytest.mark.parametrize(
    ("take", "expected"), [("first", 10.5), ("last", 20), ("sum", 30.5), ("mean", 15.25), ("min", 10.5), ("max", 20)]
)
def test_one_figure_of_several(tmp_path: Path, take: str, expected: float) -> None:
    assert _metric(tmp_path, FIO, json="$.jobs[*].iops", take=take) == expected
    assert _metric(tmp_path, "iops 10.5\niops 20\n", pattern=r"^iops (\S+)$", take=take) == expected


def test_a_number_as_text_is_one_and_null_is_missing(tmp_path: Path) -> None:
    assert _metric(tmp_path, FIO, json="$.jobs[0].lat", times=0.001) == 0.007
    assert _metric(tmp_path, FIO, json="$.jobs[1].lat") is None


def test_a_file_that_the_command_wrote(tmp_path: Path) -> None:
    files = {"out.json": "[1, 2]", "out.txt": "rate 3", "stdout": "rate 4"}
    metrics = {"a": {"json": "$[1]", "file": "out.json"}, "b": {"pattern": r"rate (\d)", "file": "out.txt"}}
    absent = {"json": "$", "file": "none.json"}
    assert _parsed(tmp_path, files, metrics={**metrics, "c": absent}).metrics == {"a": 2.0, "b": 3.0}


@pytest.mark.parametrize(
    ("text", "metric", "message"),
    [
        (FIO, {"json": "$.jobs[2].iops"}, "metric `x`: stdout has nothing at $.jobs[2].iops"),
        (FIO, {"json": "$", "file": "a.json"}, "metric `x`: there is no file a.json"),
        (FIO, {"json": "$.jobs"}, "metric `x`: $.jobs found a list, which is no number"),
        (FIO, {"json": "$.jobs[0]"}, "metric `x`: $.jobs[0] found an object, which is no number"),
        (FIO, {"json": "$.on"}, "metric `x`: $.on found true, which is no number"),
        ('{"a": NaN}', {"json": "$.a"}, "metric `x`: $.a found `nan`, which is no number"),
        ('["a" 1]', {"json": "$.a"}, "stdout is no JSON: Expecting ',' delimiter (line 1, column 6)"),
        ("a: 1", {"json": "$.a"}, "stdout holds no JSON: no line begins with { or ["),
        ("[" * 100_000, {"json": "$[0]"}, "stdout is no JSON: it is nested too deep"),
        (f"[{'1' * 5000}]", {"json": "$[0]"}, "stdout has a number of more than 4,300 digits"),
        ("", {"pattern": "(a)", "file": "a.txt"}, "metric `x`: there is no file a.txt"),
        ("", {"pattern": "(a)", "file": "stderr"}, "metric `x`: nothing in stderr matches (a)"),
    ],
)
def test_what_is_required_must_be_there(tmp_path: Path, text: str, metric: dict[str, Any], message: str) -> None:
    with pytest.raises(ParseError) as caught:
        _metric(tmp_path, text, required=True, **metric)
    assert str(caught.value) == message


def test_a_series_without_a_head(tmp_path: Path) -> None:
    said = {"file": "x.log", "head": "ms, iops, way", "time": "ms", "rate": "iops", "unit": "ms"}
    assert _parsed(tmp_path, {"x.log": LOG}, series=said).qps == [(1.0, 15.0), (2.0, 7.0)]


def test_a_series_with_a_head(tmp_path: Path) -> None:
    text = "qps,second\n4,2\n3,1\n"
    said = {"file": "x.csv", "time": "second", "rate": "qps", "times": 1000.0}
    assert _parsed(tmp_path, {"x.csv": text}, series=said).qps == [(1.0, 3000.0), (2.0, 4000.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "series: x.csv has no column `second`; it has: a, b"),
        ("", "series: x.csv has no column `second`; it has: none"),
        ("second,qps\n1,fast\n", "series: line 2 of x.csv has `fast`, which is no number"),
        ("second,qps\n1\n", "series: line 2 of x.csv has ``, which is no number"),
    ],
)
def test_a_series_that_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        _parsed(tmp_path, {"x.csv": text}, series={"file": "x.csv", "time": "second", "rate": "qps"})
    assert str(caught.value) == message


def test_a_series_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        _parsed(tmp_path, {}, series={"file": "x.csv", "time": "second", "rate": "qps"})
    assert str(caught.value) == "series: there is no file x.csv"
