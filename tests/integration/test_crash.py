"""RocksDB, InnoDB, MyRocks and PostgreSQL are killed in a load, and come back with each row that they acknowledged."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import duckdb
import pytest

from tests.integration.conftest import BUILD, Lab
from tests.integration.servers import MARIADB, POSTGRES

LOAD = "rate: 200, before: 2s, after: 2s, mutates: true"
SPEC = f"""\
title: "crash and recovery"
builds:
  rocksdb: {BUILD}
  mariadb: {MARIADB}
  postgres: {POSTGRES}
steps:
  - {{name: load, kind: sql, when: "engine != 'rocksdb'", mutates: true, measured: false,
     sql: ["create table t (id int primary key, k int)", "insert into t values (1, 0), (2, 0)"]}}
  - {{name: crash, kind: crash, {LOAD}, expects: rows_lost == 0, when: "engine != 'rocksdb'",
     rows: 2, sql: ["update t set k = k + 1 where id = {{id}}"]}}
  - {{name: again, kind: crash, {LOAD}, how: stop, expects: rows_lost == 0, when: "engine != 'rocksdb'"}}
  - {{name: crash, kind: crash, rate: 2k, before: 2s, after: 1s, mutates: true, expects: rows_lost == 0,
     when: "engine == 'rocksdb'"}}
sweep:
  engine:
    rocksdb: {{build: rocksdb}}
    innodb: {{build: mariadb}}
    myrocks: {{build: mariadb, params: {{storage_engine: rocksdb}}}}
    postgres: {{build: postgres}}
"""
# nothing is written to the log until 10 s later
LOSING = f"""\
title: "not durable"
builds: {{postgres: {POSTGRES}, mariadb: {MARIADB}}}
options:
  - {{engine: postgres, options: {{synchronous_commit: off, wal_writer_delay: 10s, wal_writer_flush_after: 1GB}}}}
  - {{engine: mariadb, options: {{innodb_flush_log_at_trx_commit: 0, innodb_flush_log_at_timeout: 100}}}}
steps: [{{name: crash, kind: crash, {LOAD}}}]
"""
TAMPERING = f"""\
title: "rows that are wrong"
builds: {{postgres: {POSTGRES}}}
steps:
  - {{name: crash, kind: crash, {LOAD}, threads: 1, sql: ["{{{{ params.first }}}}", "{{{{ params.second }}}}"]}}
params: {{first: select 1, second: select 1}}
sweep:
  fault:
    half: {{params: {{first: delete from stepgrid_crash where id = 3}}}}
    hole:
      params:
        first: update stepgrid_crash set n = n - 1 where id = 0 and exists (select from stepgrid_crash where id = 3)
        second: delete from stepgrid_crash where id = 3
    statement: {{params: {{first: update no_such_table set k = 1}}}}
"""


@pytest.fixture(scope="module")
def crashed(depot: Path, server_builds: Path, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = Lab(tmp_path_factory.mktemp("crash"))
    for builds in (depot / "builds", server_builds):
        here = lab.folder / "outputs" / "builds"
        shutil.copytree(builds, here, copy_function=os.link, symlinks=True, dirs_exist_ok=True)
    return lab


def figures(lab: Lab, spec: str, *columns: str) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Run a spec; the columns by the labels of its axes and steps."""
    shutil.rmtree(lab.folder / "outputs" / "summary", ignore_errors=True)
    lab.write(spec)
    ran = lab.run()
    assert ran.returncode == 0, ran.stderr
    assert not lab.processes()
    (table,) = lab.folder.glob("outputs/summary/*/tables/steps.parquet")
    axis = "axis_engine" if "axis_engine" in duckdb.sql(f"from '{table}'").columns else "axis_build"
    rows = duckdb.sql(f"select {axis}, step, {', '.join(columns)} from '{table}' where kind = 'crash'").fetchall()
    return {(engine, step): tuple(values) for engine, step, *values in rows}


def test_each_engine_comes_back_with_its_rows(crashed: Lab) -> None:
    found = figures(crashed, SPEC, "status", "rows_checked", "rows_lost", "first_answer_seconds", "replayed_bytes")
    servers = ("innodb", "myrocks", "postgres")
    assert {*found} == {("rocksdb", "crash"), *((engine, step) for engine in servers for step in ("crash", "again"))}
    for status, checked, lost, answer, _ in found.values():
        assert (status, lost) == ("done", 0)
        assert checked > 0
        assert answer > 0
    assert all(values[-1] > 1000 for (_, step), values in found.items() if step == "crash")
    for (engine, _), (_, checked, *_) in found.items():
        assert checked <= (4100 if engine == "rocksdb" else 450)


def test_the_report_has_a_table_of_recoveries(crashed: Lab) -> None:
    (summary,) = crashed.folder.glob("outputs/summary/*/summary.txt")
    assert "crash and recovery: crash\n" in summary.read_text()


def test_what_is_kept_has_the_log_of_recovery_and_no_password(crashed: Lab) -> None:
    folders = [path.parent for path in crashed.folder.glob("outputs/results/*/*/steps/*crash/step.json")]
    logs = [log.read_text() for folder in folders for log in folder.glob("server/stderr")]
    assert sum("redo done at" in log for log in logs) == 1
    assert sum("End of log at LSN" in log for log in logs) == 2
    requests = [json.loads((folder / "request.json").read_text()) for folder in folders]
    assert {request["access"] and request["access"]["password"] for request in requests} == {None, ""}


def test_rows_that_a_server_did_not_log_are_lost_and_the_report_says_so(crashed: Lab) -> None:
    found = figures(crashed, LOSING, "rows_checked", "rows_lost")
    assert len(found) == 2
    assert all(0 < lost <= checked for checked, lost in found.values())
    (summary,) = crashed.folder.glob("outputs/summary/*/summary.txt")
    assert "acknowledged rows are lost" in " ".join(summary.read_text().split())


def test_half_a_transaction_a_hole_and_a_wrong_statement_fail_the_step(crashed: Lab) -> None:
    crashed.write(TAMPERING)
    said = " ".join(crashed.run().stderr.split())
    assert re.search(r"half a transaction: client 0 has \d+ rows, counted \d+", said)
    assert "row 3 of client 0 is lost, and later ones are not" in said
    assert 'relation "no_such_table" does not exist' in said
    assert not crashed.processes()
