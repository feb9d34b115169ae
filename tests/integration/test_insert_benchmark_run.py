"""The insert benchmark in a stage: one that a kill ends is failed and says so; through a whole spec, its figures."""

import json
import os
import shutil

import duckdb

from tests.integration import servers
from tests.integration.conftest import Lab as Folder

SPEC = f"""\
title: the insert benchmark
define: {{builds: {{sysbench: {servers.SYSBENCH}}}}}
builds: {{mariadb: {servers.MARIADB}}}
params: {{clients: 2, deletes: true, rows_per_commit: 50}}
steps:
  - {{name: l.i0, kind: insert_benchmark, action: load, rows: 4000, mutates: true}}
  - {{checkpoint: loaded}}
  - {{name: l.x, kind: insert_benchmark, action: index, mutates: true}}
  - {{name: l.i1, kind: insert_benchmark, action: insert, rows: 1000, mutates: true}}
  - {{name: q100, kind: insert_benchmark, action: query, insert_rate: 100, duration: 1s, mutates: true}}
  - {{name: check, kind: insert_benchmark, action: check, measured: false}}
"""


def test_the_figures_of_a_whole_run(server_builds, tmp_path):
    lab = Folder(tmp_path)
    (tmp_path / "outputs").mkdir()
    shutil.copytree(server_builds, tmp_path / "outputs" / "builds", copy_function=os.link, symlinks=True)
    lab.write(SPEC)
    done = lab.run(STEPGRID_HOST_LOCK=str(tmp_path / "lock"), STEPGRID_LOOK="0")
    assert done.returncode == 0, done.stdout + done.stderr
    found = _figures(tmp_path)
    assert found["l.i0"] == (8000, True, None, None, True)
    assert found["l.x"] == (8200, True, None, None, True)
    assert found["l.i1"] == (2000, True, True, None, True)
    assert found["q100"][0] > 0
    assert found["q100"][1:] == (True, True, 200, True)
    (report,) = tmp_path.glob("outputs/results/*/*/steps/*-check/report.jsonl")
    checked = [line for line in map(json.loads, report.read_text().splitlines()) if line["report"] == "check"]
    assert [line["rows"] for line in checked] == [4100, 4100]
    kept = [path for path in tmp_path.glob("outputs/results/*/*/steps/*/*") if path.is_file()]
    assert not [path for path in kept if path.name == "connection" or "-password=" in path.read_text()]


def _figures(folder):
    tables = next(folder.glob("outputs/summary/*/tables"))
    columns = "step, operations, inserts_per_s > 0, deletes_per_s > 0, target_inserts_per_s, min_id_probe_seconds > 0"
    rows = duckdb.sql(f"SELECT {columns} FROM '{tables}/steps.parquet' WHERE status = 'done'").fetchall()
    return {row[0]: row[1:] for row in rows}
