"""A report for other programs: what they are given is what they document, and has the figures of the report."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from stepgrid.package import TEMPLATES
from stepgrid.summarize.interchange import INTERCHANGE, github_summary, report_document
from stepgrid.summarize.notes import Coverage, MissingFigures
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.interchange import schemas

CLAIMS = [
    {"claim": "hyper: 40 % more", "expect": "qps(cache='hyper') >= 1.4 * qps(cache='lru')", "where": {"threads": "1"}},
    {"claim": "hyper, a little", "expect": "qps(cache='hyper') > 1", "where": {"step": "readww"}},
]
SCHEMA = json.loads((TEMPLATES / "report" / "report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("programs"), claims=CLAIMS))


def checked(schema: schemas.Schema, found: Any) -> Any:
    Draft202012Validator.check_schema(schema)
    assert [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(found)] == []
    return found


def test_the_document_is_of_its_schema(report: Report) -> None:
    found = checked(SCHEMA, json.loads(INTERCHANGE["json"](report)))
    assert (found["schema"], report_document.VERSION) == (SCHEMA["properties"]["schema"]["const"], 1)
    faster = [each for each in found["comparisons"] if each["verdict"] == "faster"]
    assert [(each["step"], each["arm"], each["base"], each["point"]) for each in faster] == [
        (step, {"cache": "hyper"}, {"cache": "lru"}, {"build": "rocksdb-7.8.3", "threads": "1"})
        for step in ("readww", "overwrite")
    ]
    assert faster[0]["ratio"] == pytest.approx(1.5, rel=1e-3)
    shipped = [each for each in found["comparisons"] if each["as_shipped"]]
    assert {each["verdict"] for each in shipped} == {"same"}
    read = next(each for each in found["figures"] if each["step"] == "readww")
    assert read["metrics"]["qps"] == {"median": 10000, "lowest": 9900, "highest": 10100, "unit": "operations/s"}
    assert {each["status"] for each in found["figures"]} == {"done", "unsupported", "failed"}


def test_the_schema_refuses_what_is_none(report: Report) -> None:
    found = json.loads(INTERCHANGE["json"](report))
    for name in ("plan", "comparisons"):
        assert not Draft202012Validator(SCHEMA).is_valid({key: value for key, value in found.items() if key != name})
    assert not Draft202012Validator(SCHEMA).is_valid({**found, "schema": 2})


def test_bencher(report: Report) -> None:
    found = checked(schemas.BENCHER, json.loads(INTERCHANGE["bencher"](report)))
    measures = found["readww/rocksdb-7.8.3/cache=hyper/threads=1"]
    assert measures["throughput"] == {"value": 15000, "lower_value": 14850, "upper_value": 15150}
    assert "fillseq/rocksdb-7.8.3" in found
    assert not any("threads=2" in name and "hyper" in name for name in found), "unsupported, or failed"


def test_github_action_benchmark(report: Report) -> None:
    found = checked(schemas.GITHUB_ACTION_BENCHMARK, json.loads(INTERCHANGE["github-action-benchmark"](report)))
    (entry,) = (each for each in found if each["name"] == "readww/rocksdb-7.8.3/cache=hyper/threads=1")
    extra = "plan p-synthetic\nloads 3"
    assert entry == {"name": entry["name"], "unit": "operations/s", "value": 15000, "range": "± 150", "extra": extra}


def test_junit(report: Report) -> None:
    root = ElementTree.fromstring(INTERCHANGE["junit"](report))
    checked(schemas.JUNIT, schemas.tree(root))
    claims, steps = root
    assert {name: claims.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "8", "failures": "1", "errors": "0", "skipped": "5",
    }  # fmt: skip
    (failure,) = claims.iter("failure")
    assert failure.get("message") == (
        "qps(cache='hyper') >= 1.4 * qps(cache='lru'): overwrite, rocksdb-7.8.3: 1.10× [1.10, 1.11] (claimed ≥ 1.4×)"
    )
    assert [each.get("message") for each in steps.iter("error")] == [
        "failed: readww: db_bench was killed by SIGKILL",
    ] * 2  # fmt: skip


def test_junit_is_xml_whatever_a_program_said(report: Report) -> None:
    trouble = MissingFigures("failed", "\x00<\x1b[31m]]>\ud800", 1, ("readww",), ())
    broken = scenario.altered(report, coverage=Coverage(report.notes.coverage.counts, (trouble,)))
    (error,) = ElementTree.fromstring(INTERCHANGE["junit"](broken).encode()).iter("error")
    assert error.get("message") == "failed: \ufffd<\ufffd[31m]]>\ufffd"


def test_annotations_of_github(report: Report) -> None:
    lines = INTERCHANGE["github"](report).splitlines()
    assert [line for line in lines if not re.match(schemas.ANNOTATION, line)] == []
    assert lines[0].startswith("::error file=specs/cache.yaml,title=fails%3A hyper%3A 40 %25 more::qps(cache='hyper')")
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice", "::notice"]


def test_the_summary_of_github_is_appended_where_there_is_one(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(github_summary.VARIABLE, raising=False)
    github_summary.append(report)
    path = tmp_path / "summary.md"
    path.write_text("# before\n")
    monkeypatch.setenv(github_summary.VARIABLE, str(path))
    github_summary.append(report)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# before\n# LRU against hyper-clock cache\n")
    assert "- **fails**: hyper: 40 % more, at threads=1, fails at 1 of 4 points\n" in text
    assert "### QPS relative to cache=lru\n" in text


def test_a_summary_is_no_longer_than_github_takes(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(github_summary, "MOST_BYTES", 600)
    text = github_summary.text(report)
    assert len(text.encode()) <= 600
    assert text.endswith("\n…\n")


def test_otava(report: Report) -> None:
    rows = checked(schemas.OTAVA, list(csv.DictReader(StringIO(INTERCHANGE["otava"](report)))))
    assert [row["load"] for row in rows] == ["1", "2", "3"]
    assert [row["readww/rocksdb-7.8.3/cache=hyper/threads=1"] for row in rows] == ["15000", "15150", "14850"]
    assert {row["time"] for row in rows} == {"2026-11-20 10:00:00+00:00"}
