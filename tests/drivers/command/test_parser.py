from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.figures import Buckets, ClientRate, Figures, ParseError
from stepgrid.model.metrics import STEP, Metric
from stepgrid.model.plan import PlannedStep
from stepgrid.plugins.metrics import step_metrics
from stepgrid.plugins.registry import require_runner

DRIVER = require_runner("command")


def _metrics(folder: Path, stdout: str, stderr: str = "", **metrics: dict[str, Any]) -> dict[str, float]:
    (folder / "stdout").write_text(stdout, encoding="utf-8")
    (folder / "stderr").write_text(stderr, encoding="utf-8")
    settings = DRIVER.settings_model().model_validate({"argv": ["x"], "metrics": metrics}).model_dump(mode="json")
    return dict(DRIVER.parse(folder, settings).metrics)


def test_the_last_match_counts(tmp_path: Path) -> None:
    assert _metrics(tmp_path, "rate 1\nrate 2.5\n", rate={"pattern": r"^rate (\S+)$"}) == {"rate": 2.5}


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("rate=7.5e-05 s", r"rate=([0-9.]+)", 7.5e-05),
        ("rate=1e+06\n", r"rate=(\d+)", 1e6),
        ("rate=7e-05", r"rate=([0-9.]+)e", 7.0),
        ("rate=7e2f", r"rate=(\d+)", 7.0),
    ],
)
def test_a_number_is_not_cut_before_its_exponent(tmp_path: Path, text: str, pattern: str, expected: float) -> None:
    assert _metrics(tmp_path, text, rate={"pattern": pattern}) == {"rate": expected}


def test_stdout_goes_before_stderr(tmp_path: Path) -> None:
    metrics = {"a": {"pattern": r"a=(\d+)"}, "b": {"pattern": r"b=(\d+)"}}
    assert _metrics(tmp_path, "a=1", "a=2 b=3", **metrics) == {"a": 1.0, "b": 3.0}


def test_what_is_not_there_is_missing(tmp_path: Path) -> None:
    assert _metrics(tmp_path, "nothing", rate={"pattern": r"rate (\d+)"}) == {}
    assert _metrics(tmp_path, "rate", rate={"pattern": r"rate(?: (\d+))?"}) == {}


def test_a_required_metric_that_no_line_has(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        _metrics(tmp_path, "nothing", rate={"pattern": r"rate (\d+)", "required": True})
    assert str(caught.value) == r"metric `rate`: nothing in stdout or stderr matches rate (\d+)"


@pytest.mark.parametrize("text", ["fast", "1,234", "nan", "inf", ""])
def test_what_is_no_number(tmp_path: Path, text: str) -> None:
    with pytest.raises(ParseError) as caught:
        _metrics(tmp_path, f"rate={text}\n", rate={"pattern": "rate=(.*)"})
    assert str(caught.value) == f"metric `rate`: its pattern found `{text}`, which is no number"


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(b"\xff\xfe rate=3\n")
    (tmp_path / "stderr").write_bytes(b"")
    assert DRIVER.parse(tmp_path, {"metrics": {"rate": {"pattern": r"rate=(\d+)", "required": False}}}).metrics == {
        "rate": 3.0
    }


@given(value=st.floats(allow_nan=False, allow_infinity=False), noise=st.text("abc =\n", max_size=30))
def test_any_number_comes_back(tmp_path_factory: pytest.TempPathFactory, value: float, noise: str) -> None:
    folder = tmp_path_factory.mktemp("step")
    printed = f"{noise}\nx: {value!r}\n{noise}"
    assert _metrics(folder, printed, x={"pattern": r"^x: (\S+)$"}) == {"x": value}


def test_what_a_command_calls_its_figures() -> None:
    said = {"unit": "KiB", "better": "higher", "pattern": r"rate (\d+)"}
    at = {"unit": "", "better": None, "pattern": None, "json": "$.rate"}
    steps = (
        PlannedStep("a", "command", 1, {"metrics": {"rate": said, "qps": said}}, {}, 7),
        PlannedStep("b", "command", 1, {"metrics": {"rate": at, "other": at}}, {}, 7),
        PlannedStep("c", "db_bench", 1, {"benchmarks": ["fillseq"]}, {}, 7),
    )
    assert step_metrics(steps) == {
        "other": Metric("other", "", None, "A figure of the command's own, found at $.rate.", STEP),
        "rate": Metric(
            "rate", "KiB", "higher", r"A figure of the command's own, found by the pattern rate (\d+).", STEP
        ),
    }


# Metrics of JSON and of files, and the series of a table that a command wrote.

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
        ('["a" 1]', {"json": "$.a"}, "metric `x`: stdout is no JSON: Expecting ',' delimiter (line 1, column 6)"),
        ("a: 1", {"json": "$.a"}, "metric `x`: stdout holds no JSON: no line begins with { or ["),
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
        ("second,qps\n1,fast\n", "series: line 2 of x.csv has `fast`, which is no number"),
        ("second,qps\n1\n", "series: line 2 of x.csv has ``, which is no number"),
    ],
)
def test_a_series_that_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        _parsed(tmp_path, {"x.csv": text}, series={"file": "x.csv", "time": "second", "rate": "qps"})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"x.csv": "a,b\n1,2\n"}, "series has no figure: x.csv has no column `second`; it has: a, b"),
        ({"x.csv": ""}, "series has no figure: x.csv has no column `second`; it has: none"),
        ({}, "series has no figure: there is no file x.csv"),
    ],
)
def test_a_series_that_is_not_there_is_a_warning(tmp_path: Path, files: dict[str, str], message: str) -> None:
    figures = _parsed(tmp_path, files, series={"file": "x.csv", "time": "second", "rate": "qps"})
    assert (figures.qps, figures.warnings) == ([], [message])


def test_an_optional_metric_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    metrics = {"a": {"pattern": r"a=(\d+)"}, "b": {"pattern": r"b=(\d+)"}, "c": {"json": "$.c"}}
    figures = _parsed(tmp_path, {"stdout": "a=1"}, metrics=metrics)
    assert figures.metrics == {"a": 1.0}
    assert figures.warnings == [
        r"metric `b` has no figure: nothing in stdout or stderr matches b=(\d+)",
        "metric `c` has no figure: stdout holds no JSON: no line begins with { or [",
    ]


# Reports of programs.

REPORT = [
    {"report": "metric", "name": "cost", "value": 1.5},
    {"report": "fact", "name": "library", "value": 3},
    {"report": "interval", "second": 1.0, "interval": 1.0, "operations": 3, "client": 0, "longest": 0.001},
    {"report": "interval", "second": 1.0, "interval": 1.0, "operations": 1, "client": 1},
    {"report": "histogram", "operation": "read", "buckets": [[320, 3], [352, 1]], "seconds": 0.008, "longest": 0.003},
    {"report": "end", "seconds": 2.0},
]
LINES = "".join(f"{json.dumps(line)}\n" for line in REPORT)


@pytest.mark.parametrize("file", ["report.jsonl", "stdout"])
def test_a_report_has_figures_series_and_histograms(tmp_path: Path, file: str) -> None:
    metrics = {"usd": {"report": "cost", "times": 2.0, "required": True}, "none": {"report": "other"}}
    found = _parsed(tmp_path, {file: f"hello {{\n{LINES}bye\n"}, metrics=metrics)
    assert found.metrics == {
        "usd": 3.0, "operations": 4.0, "seconds": 2.0, "qps": 2.0, "avg_us": 2000.0, "max_us": 3000.0,
        "p50_us": 2 ** (321 / 32), "p75_us": 2 ** (321 / 32), "p95_us": 2 ** (353 / 32), "p99_us": 2 ** (353 / 32),
        "p99_9_us": 2 ** (353 / 32), "p99_99_us": 2 ** (353 / 32),
    }  # fmt: skip
    assert found.facts == {"library": "3"}
    assert found.qps == [(1.0, 4.0)]
    assert found.rates == [ClientRate(0, 1.0, "", 3.0, 1000.0), ClientRate(1, 1.0, "", 1.0, None)]
    limits = [2.0 ** (bucket / 32) for bucket in (320, 321, 352, 353)]
    assert found.histograms == [Buckets("read", limits[::2], limits[1::2], [3, 1])]
    assert DRIVER.live(tmp_path) == [(1.0, 4.0)]  # type: ignore[attr-defined]


def test_a_metric_that_a_report_names_counts_before_one_that_follows_from_it(tmp_path: Path) -> None:
    line = json.dumps({"report": "metric", "name": "qps", "value": 7})
    assert _parsed(tmp_path, {"stdout": f"{LINES}{line}\n"}).metrics["qps"] == 7.0
    assert _parsed(tmp_path, {"stdout": "no report\n"}).metrics == {}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "metric `x`: the report has no metric `cost`"),
        ('{"report": "metric", "name": "cost", "value": "high"}\n',
         "metric `x`: the report found `high`, which is no number"),
    ],
)  # fmt: skip
def test_a_metric_that_a_report_lacks(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        _parsed(tmp_path, {"stdout": lines}, metrics={"x": {"report": "cost", "required": True}})
    assert str(caught.value) == message
