"""RocksDB, InnoDB, MyRocks and PostgreSQL are killed in a load, and come back with each row that they acknowledged."""

import json
import os
import shutil

import duckdb
import pytest

from tests.integration.conftest import BUILD, Lab
from tests.integration.servers import MARIADB, MYSQL, POSTGRES
from tests.needs import needs

LIMIT = 900.0  # seconds for a run: a busy host takes minutes to make and start these servers
LOAD = "rate: 200, before: 2s, after: 2s, mutates: true"
ROCKSDB = f"""\
title: "crash and recovery"
builds: {{rocksdb: {BUILD}}}
steps: [{{name: crash, kind: crash, rate: 2k, before: 2s, after: 1s, mutates: true, expects: rows_lost == 0}}]
sweep: {{log: {{kept: {{}}, none: {{options: {{disable_wal: true}}}}}}}}
"""
SERVERS = f"""\
title: "crash and recovery"
builds: {{mariadb: {MARIADB}, mysql: {MYSQL}, postgres: {POSTGRES}}}
steps:
  - {{name: load, kind: sql, mutates: true, measured: false,
     sql: ["create table t (id int primary key, k int)", "insert into t values (1, 0), (2, 0)"]}}
  - {{name: crash, kind: crash, {LOAD}, expects: rows_lost == 0,
     rows: 2, sql: ["update t set k = k + 1 where id = {{id}}"]}}
  - {{name: restart, kind: crash, {LOAD}, how: stop, expects: rows_lost == 0}}
sweep:
  server:
    mysql: {{build: mysql}}
    innodb: {{build: mariadb}}
    myrocks: {{build: mariadb, params: {{storage_engine: rocksdb}}}}
    postgres: {{build: postgres}}
"""
POWER = f"""\
title: "power loss"
builds: {{rocksdb: {BUILD}}}
steps: [{{name: crash, kind: crash, how: power, rate: 500, before: 2s, after: 1s, mutates: true}}]
sweep: {{log: {{synced: {{options: {{sync: true}}}}, unsynced: {{}}}}}}
"""


@pytest.fixture(scope="module")
def servers(server_builds, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("crash"))
    shutil.copytree(server_builds, lab.folder / "outputs" / "builds", copy_function=os.link, symlinks=True)
    return lab


def figures(lab, spec, axis, *columns):
    """Run a spec; the columns by the labels of its axis and steps."""
    shutil.rmtree(lab.folder / "outputs" / "summary", ignore_errors=True)
    lab.write(spec)
    ran = lab.run(timeout=LIMIT)
    assert ran.returncode == 0, ran.stderr
    assert not lab.processes()
    (table,) = lab.folder.glob("outputs/summary/*/tables/steps.parquet")
    rows = duckdb.sql(f"select axis_{axis}, step, {', '.join(columns)} from '{table}' where kind = 'crash'").fetchall()
    return {(label, step): tuple(values) for label, step, *values in rows}


def summary(lab):
    (path,) = lab.folder.glob("outputs/summary/*/summary.txt")
    return " ".join(path.read_text().split())


def test_rocksdb_comes_back_with_the_keys_of_its_log_and_of_no_others(lab):
    found = figures(lab, ROCKSDB, "log", "status", "rows_checked", "rows_lost", "replayed_records", "replayed_bytes")
    status, checked, lost, records, size = found["kept", "crash"]
    assert (status, lost) == ("done", 0)
    assert 0 < checked <= records <= checked + 40  # it says each 20 keys that they are written
    assert size > 116 * records
    assert found["none", "crash"][:3] == ("failed", None, None), "the expectation is violated: no figure"
    assert "expects `rows_lost == 0` is violated" in summary(lab)
    assert "crash and recovery: crash" in summary(lab)


@needs("power disks")
def test_rocksdb_loses_the_keys_of_a_log_that_is_not_synced_when_the_power_goes(lab):
    found = figures(lab, POWER, "log", "status", "rows_checked", "rows_lost")
    status, checked, lost = found["synced", "crash"]
    assert (status, lost) == ("done", 0)
    assert checked > 0
    status, checked, lost = found["unsynced", "crash"]
    assert status == "done"
    assert 0 < lost <= checked
    assert f"{lost:.0f} of {checked:.0f} acknowledged rows are lost" in summary(lab)


@pytest.mark.nightly
def test_each_server_comes_back_with_its_rows_after_a_kill_and_after_a_stop(servers):
    columns = ("status", "rows_checked", "rows_lost", "first_answer_seconds", "first_commit_seconds", "replayed_bytes")
    found = figures(servers, SERVERS, "server", *columns)
    engines = ("mysql", "innodb", "myrocks", "postgres")
    assert {*found} == {(engine, step) for engine in engines for step in ("crash", "restart")}
    for status, checked, lost, answer, commit, _ in found.values():
        assert (status, lost) == ("done", 0)
        assert checked > 0
        assert 0 < answer <= (commit or answer)  # a busy host may commit nothing in the seconds after it
    # MySQL names its log sequence numbers in notes, which its log lacks by default
    assert all(found[engine, "crash"][-1] > 1000 for engine in engines[1:])


@pytest.mark.nightly
def test_what_is_kept_has_the_log_of_recovery_and_no_password(servers):
    folders = [path.parent for path in servers.folder.glob("outputs/results/*/*/steps/1-crash/step.json")]
    logs = [log.read_text() for folder in folders for log in folder.glob("server/stderr")]
    assert sum("redo done at" in log for log in logs) == 1
    assert sum("End of log at LSN" in log for log in logs) == 2
    requests = [json.loads((folder / "request.json").read_text()) for folder in folders]
    assert {request["access"]["password"] for request in requests} == {""}
