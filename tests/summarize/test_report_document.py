"""JSON and CSV of a report: of their schema, and enough to recompute each interval."""

import csv
import json
import math
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stepgrid.package import TEMPLATES
from stepgrid.summarize import report_formats
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_formats import VERSION, report_json
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

SCHEMA = json.loads((TEMPLATES / "report" / "report.schema.json").read_text(encoding="utf-8"))
VALID = Draft202012Validator(SCHEMA)
CLAIMS = [{"claim": "hyper: less", "expect": "p99_us(cache='hyper') < p99_us(cache='lru')"}]
NEW_KEYS = {"metrics", "pooled", "metric", "better", "ratios", "deviation", "freedom", "critical"}  # since version 1


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("document"), claims=CLAIMS))


@pytest.fixture(scope="module")
def document(report: Report) -> dict[str, Any]:
    return json.loads(report_json(report))


def test_document_follows_the_schema(document: dict[str, Any], tmp_path: Path) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert [f"{error.json_path}: {error.message}" for error in VALID.iter_errors(document)] == []
    assert (document["schema"], VERSION) == (SCHEMA["properties"]["schema"]["const"], 2)
    assert document.keys() == SCHEMA["properties"].keys()
    for part in ("metrics", "answer", "comparisons", "pooled", "figures"):
        described = SCHEMA["properties"][part]["items"]["properties"].keys()
        assert {key for entry in document[part] for key in entry} == described, part
    assert not VALID.is_valid({key: value for key, value in document.items() if key != "comparisons"})
    assert not VALID.is_valid({**document, "schema": 1})
    experiment = Experiment(tmp_path)
    experiment.add_build(experiment.builds[0])
    assert VALID.is_valid(json.loads(report_json(scenario.report(experiment)))), "of nothing measured"


def test_new_keys_do_not_raise_the_version(document: dict[str, Any]) -> None:
    old = {key: value for key, value in document.items() if key not in NEW_KEYS}
    old["answer"] = [{"text": answer["text"], "kind": answer["kind"]} for answer in document["answer"]]
    old["comparisons"] = [
        {key: value for key, value in ratio.items() if key not in NEW_KEYS - {"metric"}}
        for ratio in document["comparisons"]
    ]
    assert VALID.is_valid(old)


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
    spread = {"mean": 10_000 * (1.01 * 0.99) ** (1 / 3), "lowest": 9900, "highest": 10100}
    assert read["metrics"]["qps"] == {**spread, "unit": "operations/s", "better": "higher"} | {
        "mean": pytest.approx(spread["mean"])
    }
    assert {figures["status"] for figures in document["figures"]} == {"done", "unsupported", "failed"}


def test_each_compared_metric_is_everywhere(document: dict[str, Any]) -> None:
    metrics = [(metric["name"], metric["unit"], metric["better"]) for metric in document["metrics"]]
    assert metrics == [("qps", "operations/s", "higher"), ("p99_us", "us", "lower")]
    for part in ("answer", "comparisons", "pooled"):
        assert {entry["metric"] for entry in document[part]} == {"qps", "p99_us"}


def test_intervals_can_be_recomputed(document: dict[str, Any], report: Report) -> None:
    ratios = [*document["comparisons"], *document["pooled"]]
    for ratio in ratios:
        mean = math.fsum(map(math.log, ratio["ratios"])) / len(ratio["ratios"])
        reach = ratio["critical"] * ratio["deviation"] / math.sqrt(len(ratio["ratios"]))
        assert math.exp(mean) == pytest.approx(ratio["ratio"])
        assert [math.exp(mean - reach), math.exp(mean + reach)] == pytest.approx(ratio["interval"])
    text = report_formats.table(report, "csv", "ratios")
    assert text in report_formats.report_text(report, "csv", None)
    rows = list(csv.DictReader(StringIO(text.partition("\n")[2])))
    assert {row["better"] for row in rows} == {"higher", "lower"}
    assert len(rows) == len(ratios)
    for row in rows:
        logs = [math.log(float(ratio)) for name, ratio in row.items() if name.startswith("ratio load ") and ratio]
        reach = float(row["ratio critical"]) * float(row["ratio deviation"]) / math.sqrt(len(logs))
        assert math.fsum(logs) / len(logs) - reach == pytest.approx(math.log(float(row["ratio low"])))
