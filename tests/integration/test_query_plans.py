"""A dropped index in real servers: the new query plan is the first cause of the difference."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.integration import servers
from tests.integration.conftest import Lab

SPEC = f"""\
title: a dropped index
define: {{builds: {{sysbench: {servers.SYSBENCH}}}}}
builds: {{postgres: {servers.POSTGRES}, mariadb: {servers.MARIADB}}}
params: {{rows: 20000, prepare: select 1}}
steps:
  - {{name: load, kind: sysbench, lua: load, mutates: true, measured: false}}
  - name: prepare
    kind: sql
    mutates: true
    measured: false
    sql:
      - "{{{{ params.prepare }}}}"
      - "{{{{ 'analyze sbtest1' if engine == 'postgres' else 'analyze table sbtest1' }}}}"
  - {{checkpoint: loaded}}
  - {{name: range, kind: sysbench, lua: range, index: si, covered: false, range: 10, events: 300}}
sweep:
  build: [postgres, mariadb]
  index:
    points:
      k: {{}}
      none: {{params: {{prepare: "drop index k_1{{{{ '' if engine == 'postgres' else ' on sbtest1' }}}}"}}}}
repeat: 2
report: {{base: {{index: k}}}}
"""
PLANS = {
    "postgres": "Bitmap Index Scan using k_1 → Seq Scan on sbtest1",
    "mariadb": "range using k_1 on sbtest1 (Using index condition) → ALL on sbtest1",
}


@pytest.mark.nightly
def test_a_plan_that_an_arm_changed_is_the_first_cause(server_builds: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    (tmp_path / "outputs").mkdir()
    shutil.copytree(server_builds, tmp_path / "outputs" / "builds", copy_function=os.link, symlinks=True)
    lab.write(SPEC)
    done = lab.run(STEPGRID_HOST_LOCK=str(tmp_path / "lock"), STEPGRID_LOOK="0", timeout=550)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(lab.execute(lab.argv("report", "spec.yaml", "--format", "json")).stdout)
    cases = [case for case in report["comparisons"] if "build" in case["point"]]
    assert {case["point"]["build"]: case["why"][0] for case in cases} == {
        build: f"plan changed: {plans}" for build, plans in PLANS.items()
    }
    assert not any(
        "plan" in reason for case in report["comparisons"] if "index" in case["point"] for reason in case["why"]
    )
    (summary,) = (path.read_text() for path in lab.folder.glob("outputs/summary/*/summary.txt"))
    assert "plan changed: Bitmap Index Scan using k_1 → Seq Scan on sbtest1" in " ".join(summary.split())
    (kept, *_) = lab.folder.glob("outputs/results/*/*/steps/*-range/statistics/plans.json")
    plans = json.loads(kept.read_text())
    assert plans["before"] == plans["after"] != {}
