"""JSON and CSV of a report: of their schema, and enough to recompute each interval."""

from __future__ import annotations

import csv
import json
import math
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stepgrid.package import TEMPLATES
from stepgrid.summarize.page import report_formats
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_document import VERSION, report_json
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

SCHEMA = json.loads((TEMPLATES / "report" / "report.schema.json").read_text(encoding="utf-8"))
CLAIMS = [{"claim": "hyper: less CPU", "expect": "p99_us(cache='hyper') < p99_us(cache='lru')"}]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("document"), claims=CLAIMS))


@pytest.fixture(scope="module")
def document(report: Report) -> dict[str, Any]:
    return json.loads(report_json(report))


def test_document_follows_the_schema(document: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(SCHEMA).iter_errors(document)]
    assert errors == []
    assert (document["schema"], VERSION) == (SCHEMA["properties"]["schema"]["const"], 1)
    for name in ("plan", "comparisons"):
        rest = {key: value for key, value in document.items() if key != name}
        assert not Draft202012Validator(SCHEMA).is_valid(rest)
    assert not Draft202012Validator(SCHEMA).is_valid({**document, "schema": 2})


def test_schema_describes_each_key(document: dict[str, Any]) -> None:
    assert document.keys() == SCHEMA["properties"].keys()
    for name in ("metrics", "answer", "comparisons", "pooled", "figures"):
        described = SCHEMA["properties"][name]["items"]["properties"].keys()
        assert {key for entry in document[name] for key in entry} == described, name


def test_comparisons_have_the_figures_of_the_report(document: dict[str, Any]) -> None:
    faster = [ratio for ratio in document["comparisons"] if ratio["verdict"] == "faster" and ratio["metric"] == "qps"]
    assert [(ratio["step"], ratio["arm"], ratio["base"], ratio["point"]) for ratio in faster] == [
        (step, {"cache": "hyper"}, {"cache": "lru"}, {"build": "rocksdb-7.8.3", "threads": "1"})
        for step in ("readww", "overwrite")
    ]
    assert faster[0]["ratio"] == pytest.approx(1.5, rel=1e-3)
    shipped = [ratio for ratio in document["comparisons"] if ratio["as_shipped"] and ratio["metric"] == "qps"]
    assert {ratio["verdict"] for ratio in shipped} == {"same"}
    read = next(figures for figures in document["figures"] if figures["step"] == "readww")
    assert read["metrics"]["qps"] == {
        "median": 10000,
        "lowest": 9900,
        "highest": 10100,
        "unit": "operations/s",
        "better": "higher",
    }
    assert {figures["status"] for figures in document["figures"]} == {"done", "unsupported", "failed"}


def test_each_compared_metric_has_ratios_and_figures(document: dict[str, Any]) -> None:
    assert document["metrics"] == [
        {"name": "qps", "unit": "operations/s", "better": "higher"},
        {"name": "p99_us", "unit": "us", "better": "lower"},
    ]
    compared = {(ratio["metric"], ratio["better"]) for ratio in document["comparisons"]}
    assert compared == {("qps", "higher"), ("p99_us", "lower")}
    for part in ("answer", "pooled"):
        assert {entry["metric"] for entry in document[part]} == {"qps", "p99_us"}


def test_intervals_can_be_recomputed(document: dict[str, Any], report: Report) -> None:
    for ratio in (*document["comparisons"], *document["pooled"]):
        assert ratio["freedom"] > 0
        mean = math.fsum(map(math.log, ratio["ratios"])) / len(ratio["ratios"])
        reach = ratio["critical"] * ratio["deviation"] / math.sqrt(len(ratio["ratios"]))
        assert math.exp(mean) == pytest.approx(ratio["ratio"])
        assert [math.exp(mean - reach), math.exp(mean + reach)] == pytest.approx(ratio["interval"])
    rows = list(csv.DictReader(StringIO(report_formats.table(report, "csv", "ratios").partition("\n")[2])))
    assert len(rows) == len(document["comparisons"]) + len(document["pooled"])
    for row in rows:
        logs = [math.log(float(ratio)) for ratio in row["ratio ratios"].split()]
        reach = float(row["ratio critical"]) * float(row["ratio deviation"]) / math.sqrt(len(logs))
        assert math.fsum(logs) / len(logs) - reach == pytest.approx(math.log(float(row["ratio low"])))
    assert {row["better"] for row in rows} == {"higher", "lower"}
    assert "# ratios\nstep,point,arm,base,metric,better,ratio,ratio low," in report_formats.whole(report, "csv", None)


def test_old_documents_are_of_the_schema(document: dict[str, Any]) -> None:
    """New keys do not raise the version, so none of them is required."""
    old = {key: value for key, value in document.items() if key not in ("metrics", "pooled")}
    new = ("better", "ratios", "deviation", "freedom", "critical")
    old["comparisons"] = [{k: v for k, v in ratio.items() if k not in new} for ratio in document["comparisons"]]
    assert Draft202012Validator(SCHEMA).is_valid(old)


def test_a_report_of_nothing_is_a_document(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.add_build(experiment.builds[0])
    document = json.loads(report_json(scenario.report(experiment)))
    assert Draft202012Validator(SCHEMA).is_valid(document)
    assert (document["comparisons"], document["pooled"], document["measured"]) == ([], [], None)
