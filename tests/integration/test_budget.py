"""`stepgrid plan --budget`, after a real run: what fits, and the best of it written into the spec."""

from __future__ import annotations

import re
from pathlib import Path

from tests.integration.conftest import Lab

PROGRAM = """\
import random, sys
factor, seed = float(sys.argv[1]), sys.argv[2]
print("rate:", 100000 * factor * (1 + 0.01 * random.Random(seed + sys.argv[1]).gauss(0, 1)))
"""
SPEC = """\
title: what a budget buys   # a comment that stays
builds: {python: {engine: program, source: {system: python3}, flags: {programs: python3}}}
steps:
  - {name: load, kind: command, argv: ["{program:python3}", "-c", ""], measured: false}
  - checkpoint: loaded
  - name: count
    kind: command
    argv: ["{program:python3}", FOLDER/rate.py, "{{ params.factor }}", "{seed}"]
    metrics: {qps: {pattern: "rate: ([0-9.]+)", required: true}}
sweep: {arm: {from: loaded, points: {base: {params: {factor: 1}}, fast: {params: {factor: 1.1}}}}}
repeat: {loads: 2, runs: 2}   # a pilot
"""


def test_what_fits_is_listed_and_the_best_is_written(tmp_path: Path) -> None:
    (tmp_path / "rate.py").write_text(PROGRAM)
    lab = Lab(tmp_path)
    lab.write(SPEC.replace("FOLDER", str(tmp_path)))
    nothing = lab.execute(lab.argv("plan", "spec.yaml", "--budget", "1h"))
    assert (nothing.returncode, nothing.stdout) == (1, "")
    lacking = "spec.yaml: nothing to go by: at least two measured loads of an arm and its base"
    assert nothing.stderr.splitlines()[-1] == lacking
    assert lab.run().returncode == 0
    before = (tmp_path / "spec.yaml").read_text()
    found = lab.execute(lab.argv("plan", "spec.yaml", "--budget", "30s", "--apply"))
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    assert re.fullmatch(r"  now      2 loads, 2 runs of each: ± \S+ %, ± \S+ % at the noisiest step", lines[0])
    assert re.fullmatch(
        r"  noise    of the variance \d+ % between loads, \d+ % between runs, 0 % within a run", lines[1]
    )
    loads, runs = re.findall(r"\S+", lines[6])[:2]
    written = loads if runs == "1" else f"{{loads: {loads}, runs: {runs}}}"
    assert lines[-1] == f"spec.yaml: wrote `repeat: {written}`"
    assert (tmp_path / "spec.yaml").read_text() == before.replace("{loads: 2, runs: 2}", written)
    wrong = lab.execute(lab.argv("plan", "spec.yaml", "--budget", "soon"))
    assert wrong.returncode == 2
    assert "argument --budget: expected a duration such as 30s, 30m or 2h, found `soon`" in wrong.stderr
