"""A report for CI: each form is what the program documents (November 2026), and has the figures of the report."""

import csv
import json
import re
from io import StringIO
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from stepgrid.model.records import replace
from stepgrid.plugins.registry import FORMS
from stepgrid.summarize import gate
from stepgrid.summarize.gate import Condition, Gate
from stepgrid.summarize.notes import Coverage, MissingFigures
from stepgrid.summarize.report_formats import ALONE, FormOptions, NoForm
from stepgrid_page import ci_formats
from tests.summarize import scenario
from tests.summarize.test_summary_text import complete

HYPER = "readww/rocksdb-7.8.3/cache=hyper/threads=1"
MEAN = 15_000 * (1.01 * 0.99) ** (1 / 3)  # of three loads
CLAIMS = [
    {"claim": "hyper: 40 % more", "expect": "qps(cache='hyper') >= 1.4 * qps(cache='lru')", "where": {"threads": "1"}},
    {"claim": "hyper, a little", "expect": "qps(cache='hyper') > 1", "where": {"step": "readww"}},
    {"claim": "hyper: p50", "expect": "p50_us(cache='hyper') < 1000000", "where": {"step": "readww"}},
]
NUMBER, TEXT = {"type": "number"}, {"type": "string", "minLength": 1}
# Bencher 0.6, "Bencher Metric Format" v0 (bmf.json): benchmark -> measure, a slug -> value between bounds
METRIC = {"properties": dict.fromkeys(("value", "lower_value", "upper_value"), NUMBER), "required": ["value"]}
SLUGS = {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64}
MEASURES = {"propertyNames": SLUGS, "additionalProperties": {**METRIC, "additionalProperties": False}}
BENCHER = {"type": "object", "propertyNames": {"maxLength": 1024}, "additionalProperties": MEASURES}
# github-action-benchmark 1.22: no empty list; a range is a sign and a number without thousands
ENTRY = {
    "properties": {
        **dict.fromkeys(("name", "unit", "extra"), TEXT),
        "value": NUMBER,
        "range": {"pattern": r"^± [0-9]+(\.[0-9]+)?$"},
    },
    "required": ["name", "unit", "value"],
    "additionalProperties": False,
}
BENCHMARK = {"type": "array", "minItems": 1, "items": ENTRY}
# Apache Otava 0.8, `type: csv`: a time, attributes as text, and each other cell a number
COLUMNS = {"time": {"pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$"}, "plan": TEXT, "load": {"pattern": r"^\d+$"}}
FIGURE = {"pattern": r"^(nan|[0-9.]+(e[+-]?[0-9]+)?)$"}
OTAVA = {"type": "array", "minItems": 1, "items": {"properties": COLUMNS, "additionalProperties": FIGURE}}
# JUnit XML as Jenkins (junit-10.xsd of its xUnit plugin 3.1) and most others take it
JUNIT = {
    "testsuites": {"name"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "timestamp"},
    "testcase": {"classname", "name"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "system-out": set(),
}
# Workflow commands of GitHub Actions: what ends a property or a line is escaped
ANNOTATION = r"^::(error|warning|notice) (file|title)=[^:,\r\n]+(,title=[^:,\r\n]+)?::[^\r\n]+$"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("programs"), claims=CLAIMS))


def checked(schema, value):
    Draft202012Validator.check_schema(schema)
    assert [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)] == []
    return value


def test_bencher(report):
    benchmarks = checked(BENCHER, json.loads(FORMS.get("bencher")(report, ALONE)))
    figure = {"value": pytest.approx(MEAN), "lower_value": 14850, "upper_value": 15150}
    assert benchmarks[HYPER]["throughput"] == figure
    assert {"p50-us", "p99-us"} < benchmarks[HYPER].keys()
    assert "fillseq/rocksdb-7.8.3" in benchmarks
    assert not any("threads=2" in name and "hyper" in name for name in benchmarks), "unsupported, or failed"


def test_github_action_benchmark(report):
    bigger = checked(BENCHMARK, json.loads(FORMS.get("github-action-benchmark")(report, ALONE)))
    (entry,) = (entry for entry in bigger if entry["name"] == HYPER)
    extra = "plan p-synthetic\nloads 3"
    value = pytest.approx(MEAN)
    assert entry == {"name": HYPER, "unit": "operations/s", "value": value, "range": "± 150.5", "extra": extra}
    smaller = checked(BENCHMARK, json.loads(FORMS.get("github-action-benchmark-smaller")(report, ALONE)))
    assert {entry["unit"] for entry in smaller if entry["name"] == f"{HYPER}/p50_us"} == {"us"}
    assert not {entry["name"] for entry in smaller} & {entry["name"] for entry in bigger}, "one direction for each"
    with pytest.raises(NoForm, match="no figures of a metric that is better when higher"):
        FORMS.get("github-action-benchmark")(scenario.altered(report, sections=()), ALONE)


def test_junit(report):
    root = ElementTree.fromstring(FORMS.get("junit")(report, ALONE))
    assert [element.tag for element in root.iter() if not element.attrib.keys() <= JUNIT[element.tag]] == []
    claims, comparisons, steps = root
    assert {case.get("name", "").partition(",")[0] for case in comparisons} == {"fillseq", "overwrite", "readww"}
    assert comparisons.get("failures") == "0", "nothing refuses a comparison"
    gate = Gate((Condition("different", frozenset({"overwrite"})),))
    gated = ElementTree.fromstring(ci_formats.junit(report, FormOptions(gate)))
    refused = list(gated.iterfind(".//failure[@type='comparison']/.."))
    assert refused
    assert all(case.get("name", "").startswith("overwrite, ") for case in refused)
    counts = {name: claims.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": str(len(claims)), "failures": "1", "errors": "0", "skipped": "8"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", claims.get("timestamp", ""))
    assert [failure.get("message") for failure in claims.iter("failure")] == [
        "qps(cache='hyper') >= 1.4 * qps(cache='lru'): overwrite, rocksdb-7.8.3: 1.10× [1.10, 1.11] (claimed ≥ 1.4×)"
    ]
    errors = [error.get("message") for error in steps.iter("error")]
    assert errors == ["failed: readww: db_bench was killed by SIGKILL"] * 2
    trouble = MissingFigures("failed", "\x00<\x1b[31m]]>\ud800", 1, ("readww",), ())
    broken = scenario.altered(report, coverage=Coverage(report.notes.coverage.counts, (trouble,)))
    (error,) = ElementTree.fromstring(FORMS.get("junit")(broken, ALONE).encode()).iter("error")
    assert error.get("message") == "failed: \ufffd<\ufffd[31m]]>\ufffd", "XML, whatever a program printed"


def test_annotations_of_github(report):
    lines = FORMS.get("github")(report, ALONE).splitlines()
    assert [line for line in lines if not re.match(ANNOTATION, line)] == []
    assert lines[0].startswith("::error file=specs/cache.yaml,title=fails%3A hyper%3A 40 %25 more::qps(cache='hyper')")
    assert [line.split(" ")[0] for line in lines[:3]] == ["::error", "::error", "::warning"]
    assert "title=failed%3A readww of rocksdb-7.8.3::db_bench was killed by SIGKILL%0Alog: " in lines[1]


def test_job_summary_of_github_is_appended(report, tmp_path, monkeypatch):
    monkeypatch.delenv(ci_formats.SUMMARY_VARIABLE, raising=False)
    ci_formats.github(report)
    path = tmp_path / "summary.md"
    path.write_text("# before\n")
    monkeypatch.setenv(ci_formats.SUMMARY_VARIABLE, str(path))
    ci_formats.github(report)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# before\n# LRU against hyper-clock cache\n")
    assert "- ✘ fails at 1 of 4 points: hyper: 40 % more" in text
    assert "### QPS and ratio to cache=lru\n" in text
    assert ".svg" not in text
    monkeypatch.setattr(ci_formats, "MOST_SUMMARY", 600)
    cut = ci_formats.job_summary(report)
    assert len(cut.encode()) <= 600
    assert cut.endswith("\n…\n")


def test_otava(report):
    rows = checked(OTAVA, list(csv.DictReader(StringIO(FORMS.get("otava")(report, ALONE)))))
    assert [row["load"] for row in rows] == ["1", "2", "3"]
    assert [row[HYPER] for row in rows] == ["15000", "15150", "14850"]
    assert f"{HYPER}/p50_us" in rows[0]
    assert {row["time"] for row in rows} == {"2026-11-20 10:00:00+00:00"}


BASE, NEAR = [1000.0, 1001.0, 999.0], [1050.0, 1051.0, 1049.0]
SECONDS = [[level + second % 7 for second in range(60)] for level in (1000.0, 1050.0)]
WIDE = gate.Gate(effects={gate.ALL_STEPS: 0.1})


def judged(root, rates, base=BASE):
    return scenario.report(complete(root, {"lru": base, "hyper": rates}))


def test_an_arm_that_stands_still_is_slower(tmp_path):
    cases = gate.gate_cases(judged(tmp_path, [0.0, 0.0, 0.0]), gate.NO_GATE)
    expected = frozenset({"slower", "different"}), "3 of 3 loads did nothing (0 QPS), slower"
    assert {(case.results, case.text) for case in cases} == {expected}


def test_one_load_is_undecided_whatever_the_effect(tmp_path):
    base, rates = SECONDS
    cases = gate.gate_cases(judged(tmp_path, [rates], [base]), WIDE)
    assert {(case.results, case.text.rpartition(", ")[2]) for case in cases} == {
        (frozenset({"undecided"}), "indicative")
    }


@pytest.mark.parametrize("fields", [{"verdict": "undecided (host busy)"}, {"verdict": None, "refusal": "other hosts"}])
def test_a_larger_smallest_effect_decides_nothing_without_a_verdict(tmp_path, fields):
    report = judged(tmp_path, NEAR)
    (comparison,) = report.comparisons.leading
    rows = tuple(
        replace(row, entries=(row.entries[0], *(replace(entry, **fields) for entry in row.entries[1:])))
        for row in comparison.rows
    )
    altered = scenario.altered(report, all=(replace(comparison, rows=rows),))
    assert {case.results for case in gate.gate_cases(altered, WIDE)} == {frozenset({"undecided"})}
