"""What Snakemake itself shows of a plan: labels of builds and stages, their logs, and the results in its report."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.needs import needs

pytestmark = pytest.mark.integration


def test_the_graph_of_the_jobs_has_labels(checkout: Any) -> None:
    checkout.write_spec(loads=1)
    ended = checkout.snakemake("--dag")
    assert ended.returncode == 0, ended.stderr
    assert re.findall(r'label = "(.+?)"', ended.stdout) == [
        *("all", r"build\nbuild: p", r"build\nbuild: q"),
        *(
            rf"run\nstage: {build}{arm}, load 1: {step}"
            for build in "pq"
            for arm, step in (("", "fill"), (" arm=a", "read"), (" arm=b", "read"))
        ),
        *("summarize", "collect"),
    ]


def test_a_failed_stage_has_its_log_under_its_label(checkout: Any) -> None:
    (checkout.folder / "fail-s-p-0-a").touch()
    ended = checkout.snakemake()
    assert ended.returncode == 1
    (folder,) = (checkout.folder / "outputs" / "marks").glob("*/log")
    logs = {log.name: log.resolve().relative_to(checkout.folder / "outputs") for log in folder.iterdir()}
    assert logs["p arm=a, load 1: read"].match("attempts/s-p-0-a/*/journal.jsonl")
    assert logs["p, load 1: fill"].match("results/s-p-0/*/journal.jsonl")
    assert logs["p"] == Path("builds/b-p/build.log")
    dry = checkout.snakemake("-n", "--quiet", "progress").stdout
    assert "measure p arm=a, load 1: read" in dry
    assert "s-p-0-a" not in dry


def test_the_results_are_in_the_report(finished: Any) -> None:
    ended = finished.snakemake("--report", "report.html")
    assert ended.returncode == 0, ended.stderr
    page = (finished.folder / "report.html").read_text()
    for label in ("summary", "page with charts"):
        assert f'"labels": {{"results": "{label}"}}' in page
    assert "Missing metadata" not in ended.stderr


@needs("chromium")
def test_a_browser_shows_the_report(finished: Any, tmp_path: Path) -> None:
    assert finished.snakemake("--report", "report.html").returncode == 0
    page = finished.folder / "report.html"
    argv = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}"]
    shown = subprocess.run(
        [*argv, "--virtual-time-budget=5000", "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120
    )
    assert ">Results<" not in page.read_text()
    assert ">Results<" in shown.stdout, "the menu of results, which its scripts have made"
