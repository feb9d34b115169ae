"""What is said about figures that were not measured alike: databases, times, and results that were taken out."""

import json
from pathlib import Path

import pytest

from stepgrid.store.store import SummaryFiles
from stepgrid.summarize import html_page, sentences
from stepgrid.summarize.findings import findings
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_formats import report_document
from stepgrid.summarize.why import why_table
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    monkeypatch.chdir(tmp_path)
    made = Experiment(Path(), builds=(BUILD,), threads=("1",), loads=2, within=7 * 86400.0)
    made.add_build(BUILD)
    for load in range(2):
        made.add_load(BUILD, load)
        for cache in ("lru", "hyper"):
            made.add(BUILD, cache, "1", load, {"readww": 1000.0, "overwrite": 2000.0})
    return made


def test_a_difference_between_survivors_is_marked_wherever_it_is_said(tmp_path: Path) -> None:
    """Three of five loads of an arm failed, and what is left is faster."""
    claim = {"claim": "faster", "expect": "qps(cache='hyper') > qps(cache='lru')", "where": {"step": "readww"}}
    found = Experiment(tmp_path, threads=("1",), loads=5, claims=[claim])
    found.add_build(BUILD)
    for load, level in enumerate((1.0, 1.001, 0.999, 1.0, 1.002)):
        found.add_load(BUILD, load)
        found.add(BUILD, "lru", "1", load, {"readww": 1000.0 * level, "overwrite": 1000.0 * level})
        if load < 2:
            found.add(BUILD, "hyper", "1", load, {"readww": 1500.0 * level, "overwrite": 1500.0 * level})
        else:
            found.add_failure(found.stage(BUILD, "hyper", "1", load), "db_bench was killed by SIGKILL")
    made = scenario.report(found)
    losses = "2 of 5 loads; 3 failed"
    assert findings(made)[0].qualifier.endswith(f" · {losses} · 2 ratios with a doubt of their own (†)")
    document = report_document(made)
    assert [each["notes"][0] for each in document["comparisons"]] == [losses, losses]
    assert document["claims"][0]["cases"][0]["numbers"][-1] == f"† cache=hyper: {losses}"
    files = SummaryFiles.of(found.store, made.setup.plan)
    for page in (files.text, files.page):
        text = page.read_text(encoding="utf-8")
        assert f"faster † ({losses})" in text
        assert f"† {losses}: readww, hyper; overwrite, hyper" in text.replace("cache=hyper", "hyper")


def test_arms_of_two_processors_get_ratios_and_no_verdict(tmp_path: Path) -> None:
    """Under one name, and though builds are compared as shipped; neither does a claim decide anything."""
    claim = {"claim": "faster", "expect": "qps(cache='hyper') > qps(cache='lru')", "where": {"step": "readww"}}
    found = Experiment(tmp_path, threads=("1",), loads=3, claims=[claim], as_shipped="a test")
    found.add_build(BUILD)
    for load, level in enumerate((1.0, 1.001, 0.999)):
        found.add_load(BUILD, load)
        for cache, cpu, qps in (("lru", "AMD EPYC 7763", 1000.0), ("hyper", "Intel Xeon 8175", 1500.0)):
            result = found.add(BUILD, cache, "1", load, {"readww": qps * level, "overwrite": qps * level})
            path = result / "attempt.json"
            record = json.loads(path.read_text())
            path.write_text(json.dumps({**record, "host": {**record["host"], "hardware": {"cpu": cpu, "cores": 2}}}))
            found.seal(result)
    made = scenario.report(found)
    why = "measured on different hosts: CPU AMD EPYC 7763 / Intel Xeon 8175"
    assert [answer.text for answer in findings(made)] == [
        f"cache=hyper: 1.50× the QPS, no verdict against cache=lru, in both steps ({why})"
    ]
    assert sentences.advice(made) == [
        "Arms of two hosts get no verdict: measure them on one, or compare hosts by `hardware`."
    ]
    (claimed,) = made.comparisons.claims
    assert (claimed.result, claimed.cases[0].notes) == (
        "undecided",
        ("* no verdict: measured on different hosts: CPU Intel Xeon 8175 / AMD EPYC 7763",),
    )
    comparisons = report_document(made)["comparisons"]
    assert [(each["verdict"], each["not_comparable"]) for each in comparisons] == [(None, why), (None, why)]


OLD, NEW = "rocksdb-6.11.4", "rocksdb-7.8.3"
CPU = "CPU 1,998 → 3,997 (2.00×) µs per operation"
ALIKE = {"route": "debian", "suite": "trixie"}
DEFAULTS = {"block_size": "4096", "bloom_bits": "-1", "verify_checksum": "true", "max_open_files": "-1"}


def report(root: Path, **new: str) -> Report:
    """The newer build has other defaults, and reads at half the rate."""
    found = Experiment(root, builds=(OLD, NEW), caches=("lru",), threads=("1",), base={"build": OLD}, seconds=1)
    found.add_build(OLD, ALIKE, defaults=DEFAULTS)
    found.add_build(NEW, ALIKE, defaults={**DEFAULTS, **new})
    for load in range(3):
        for build, rate in ((OLD, 1000.0), (NEW, 500.0)):
            found.add_load(build, load)
            found.add(build, "lru", "1", load, {"readww": rate * (1 + load / 1000), "overwrite": 1000.0})
    return scenario.report(found)


@pytest.mark.parametrize(
    ("new", "reasons"),
    [
        ({"block_size": "65536"}, f"default block_size 4096 -> 65536; {CPU}"),
        ({}, CPU),
        (
            {"block_size": "1", "bloom_bits": "10", "verify_checksum": "false"},
            f"{CPU}; 3 defaults of the builds differ",
        ),
    ],
)  # fmt: skip
def test_few_differences_of_the_builds_come_first(tmp_path: Path, new: dict[str, str], reasons: str) -> None:
    found = report(tmp_path, **new)
    (comparison,) = found.comparisons.all
    table = why_table(comparison, found.setup, found.data.details)
    assert table is not None
    assert [[cell.text for cell in row] for row in table.rows] == [["readww", NEW, "0.50×", reasons]]
    assert reasons.replace(">", "&gt;") in html_page.page(found)


def test_waits_of_sessions_come_from_the_files_beside_a_step_to_the_table(tmp_path: Path) -> None:
    """Tables have them as counters of a source of their own."""
    found = Experiment(tmp_path, builds=(OLD, NEW), caches=("lru",), threads=("1",), base={"build": OLD}, seconds=1)
    for build in (OLD, NEW):
        found.add_build(build, ALIKE)
    for load in range(3):
        for build, rate, waiting in ((OLD, 1000.0, 0), (NEW, 500.0, 18)):
            found.add_load(build, load)
            result = found.add(build, "lru", "1", load, {"readww": rate * (1 + load / 1000), "overwrite": 1000.0})
            (statistics := next(result.glob("steps/*-readww")) / "statistics").mkdir(exist_ok=True)
            looks = {"looks": 20, "sessions": {"Lock:transactionid": waiting, "": 1}}
            (statistics / "sessions.json").write_text(json.dumps(looks))
            found.seal(result)
    made = scenario.report(found)
    (comparison,) = made.comparisons.all
    table = why_table(comparison, made.setup, made.data.details)
    assert table is not None
    assert table.rows[0][-1].text.startswith("waiting for row locks (transactionid) 0 → 1,79")
