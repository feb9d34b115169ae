"""Arms on an emptied database beside equal ones, on a real server; reads of a server that find nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.integration import servers
from tests.integration.conftest import Lab

HEAD = f"""\
title: other work
define: {{builds: {{sysbench: {servers.SYSBENCH}}}}}
builds: {{mariadb: {servers.MARIADB}}}
"""
ARMS = """\
sweep: {arm: {option: max_connections, values: [77, 78, 79]}}
report: {base: {arm: "78"}}
steps:
  - {name: load, kind: KIND, action: load, LOAD, mutates: true}
  - {name: empty, kind: sql, measured: false, mutates: true,
     sql: ["delete from TABLE where @@max_connections = 77", "analyze table TABLE"]}
  - {name: run, kind: KIND, action: ACTION, duration: 2s, RUN, mutates: true}
"""
SMALL = "warehouses: 1, items: 200, customers: 60"
MISSES = """\
params: {tables: 1, rows: 5000, threads: 1, duration: 1s}
steps:
  - {name: load, kind: sysbench, lua: load}
  - {name: empty, kind: sql, sql: ["delete from sbtest1"], measured: false, mutates: true}
  - {checkpoint: emptied}
  - {name: NAME, kind: sysbench, lua: point_query}
"""


@pytest.fixture
def lab(server_builds: Path, tmp_path: Path) -> Lab:
    (tmp_path / "outputs").mkdir()
    shutil.copytree(server_builds, tmp_path / "outputs" / "builds", copy_function=os.link, symlinks=True)
    return Lab(tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "table", "load", "run"),
    [
        ("tpcc", "order_line", SMALL, f"action: run, {SMALL}"),
        ("linkbench", "linktable", "ids: 2000", "action: request, ids: 2000"),
        ("insert_benchmark", "pi1", "rows: 5000", "action: query, query: point, insert_rate: 100, deletes: true"),
    ],
)
def test_an_emptied_database_is_other_work(lab: Lab, kind: str, table: str, load: str, run: str) -> None:
    text = ARMS.replace("KIND", kind).replace("TABLE", table).replace("LOAD", load)
    lab.write(HEAD + text.replace("action: ACTION, duration: 2s, RUN", f"duration: 2s, {run}"))
    done = lab.run(STEPGRID_HOST_LOCK=str(lab.folder / "lock"), STEPGRID_LOOK="0", timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (summary,) = (path.read_text() for path in lab.folder.glob("outputs/summary/*/summary.txt"))
    refused = [line for line in summary.splitlines() if "no verdict: did other work: began with" in line]
    assert len(refused) == 1, summary
    row = next(line for line in summary.splitlines() if line.startswith("  run  "))  # of the table of ratios
    assert row.count("*") == 1, "the third arm is equal"


def test_reads_that_find_nothing_fail(lab: Lab) -> None:
    lab.write(HEAD + MISSES.replace("NAME", "points"))
    environment = {"STEPGRID_HOST_LOCK": str(lab.folder / "lock"), "STEPGRID_LOOK": "0"}
    done = lab.run(**environment)
    assert done.returncode != 0
    assert "points: it found none of the rows that it looked up: " in done.stderr
    assert " operations found 0 rows" in done.stderr
    lab.write(HEAD + MISSES.replace("NAME", "misses"))  # that is its question
    done = lab.run(**environment)
    assert done.returncode == 0, done.stderr
