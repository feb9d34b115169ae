"""Reasons beside each difference of a report, in the text and on the page, with changes of the builds."""

import json
from pathlib import Path

import pytest

from stepgrid.summarize import html_page
from stepgrid.summarize.report import Report
from stepgrid.summarize.why import why_table
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

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
