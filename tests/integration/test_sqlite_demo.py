"""The demo that needs Python alone: its program measures, and the sweep comes to a verdict."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.integration.conftest import ROOT, Lab

PROGRAM = ROOT / "specs" / "programs" / "sqlite_bench.py"


def bench(step: str, file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(PROGRAM), step, str(file), "--rows", "1000", "--seed", "1", "--seconds", "0.02"]
    return subprocess.run([*argv, *arguments], capture_output=True, text=True)


def test_its_program_prints_figures(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    assert bench("load", file).returncode == 0
    for step in ("commits", "lookups"):
        done = bench(step, file, "--journal", "wal", "--synchronous", "off", "--cache", "100")
        assert re.fullmatch(
            r"sqlite: \S+\noperations: \d+\noperations per second: [\d.]+\nmedian: [\d.]+ us\n"
            r"99th percentile: [\d.]+ us\n",
            done.stdout,
        ), done.stderr


def test_the_sweep_comes_to_a_verdict(tmp_path: Path) -> None:
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    lab = Lab(tmp_path)
    spec = "specs/quickstart-sqlite.yaml"
    small = ["--set", "params.rows=5k", "--set", "params.seconds=0.1", "--set", "repeat=3"]
    small += ["--only", "cache == 'tenth' and synchronous == 'normal'"]
    done = lab.execute(lab.argv("run", spec, *small))
    assert done.returncode == 0, done.stderr
    if ("commits", "faster") not in verdicts(lab, spec, *small):  # the host is busy: once more
        assert lab.execute(lab.argv("redo", spec, *small)).returncode == 0
        assert lab.execute(lab.argv("run", spec, *small)).returncode == 0
        assert ("commits", "faster") in verdicts(lab, spec, *small)


def verdicts(lab: Lab, *words: str) -> set[tuple[str, str]]:
    report = json.loads(lab.execute(lab.argv("report", *words, "--format", "json")).stdout)
    return {(each["step"], each["verdict"]) for each in report["comparisons"] if each["metric"] == "qps"}
