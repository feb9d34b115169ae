"""Every engine is left with work, and is quiet at the end, also beside another program that writes all the time; a wait
that is too short says what was not."""

import json
import os
import re
import shutil

import duckdb
import pytest

from stepgrid.plugins.registry import require_runner
from tests.drivers.quiesce.test_program import stranger
from tests.integration.conftest import BUILD, Lab
from tests.integration.servers import MARIADB, MYSQL, POSTGRES

SMALL = "write_buffer_size: 1MiB, max_bytes_for_level_base: 4MiB, target_file_size_base: 1MiB"
SPEC = f"""\
title: "until they are quiet"
builds:
  postgres: {POSTGRES}
  mysql: {MYSQL}
  innodb: {MARIADB}
  myrocks: {{extends: innodb, params: {{storage_engine: rocksdb}}}}
  rocksdb: {BUILD}
params: {{storage_engine: null}}
options:
  - {{engine: [mysql, mariadb], when: "storage_engine != 'rocksdb'", options: {{innodb_io_capacity: 400}}}}
  - {{engine: rocksdb, options: {{{SMALL}}}}}
steps:
  - name: load.postgres
    kind: sql
    sql:
      - create table t as select g as id, md5(g::text) as c from generate_series(1, 100000) as g
      - update t set c = md5(c) where id % 3 = 0
    when: "engine == 'postgres'"
  - name: load.mariadb
    kind: sql
    sql:
      - create table t (id int primary key, k int, c varchar(100), key (k))
      - insert into t select seq, seq * 7919 % 1000003, md5(seq) from seq_1_to_60000
    when: "engine == 'mariadb'"
  - name: load.mysql
    kind: sql
    sql:
      - set cte_max_recursion_depth = 1000000
      - create table t (id int primary key, k int, c varchar(100), key (k))
      - insert into t with recursive g(n) as (select 1 union all select n + 1 from g where n < 60000)
        select n, n * 7919 % 1000003, sha2(n, 256) from g
    when: "engine == 'mysql'"
  - {{name: load.rocksdb, kind: db_bench, benchmarks: [fillrandom], keys: 200k, fresh: true,
     options: {{disable_auto_compactions: true}}, when: "engine == 'rocksdb'"}}
  - {{name: early, kind: quiesce, timeout: 100ms}}
  - {{name: settle, kind: quiesce, timeout: 60s, quiet: 1s}}
"""
# by build: what there was to do at the first look, and at most how much is left of it
WORK = {
    "postgres": ("wal_bytes", 0.01),
    "mysql": ("dirty_pages", 0.5),
    "innodb": ("dirty_pages", 0.5),
    "myrocks": ("memtable_bytes", 0.5),
    "rocksdb": ("l0_files", 0.5),
}


@pytest.fixture(scope="module")
def measured(depot, server_builds, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("quiesce"))
    for builds in (depot / "builds", server_builds):
        here = lab.folder / "outputs" / "builds"
        shutil.copytree(builds, here, copy_function=os.link, symlinks=True, dirs_exist_ok=True)
    lab.write(SPEC)
    with stranger(lab.folder):
        ran = lab.run()
    assert ran.returncode == 0, ran.stderr
    assert not lab.processes()
    return lab


def steps(lab, kind):
    for path in (lab.folder / "outputs" / "results").glob("*/*/steps/*/step.json"):
        record = json.loads(path.read_text())
        if record["kind"] == kind:
            yield path.parent, record


def test_all_of_them_end_quiet(measured):
    quiet = [
        require_runner("quiesce").parse(folder, {})
        for folder, record in steps(measured, "quiesce")
        if record["name"] == "settle"
    ]
    assert len(quiet) == len(WORK)
    assert [(found.warnings, "quiesce_seconds" in found.metrics) for found in quiet] == [((), True)] * len(WORK)


@pytest.mark.parametrize("build", WORK)
def test_the_work_that_was_left_is_done(measured, build):
    name, most = WORK[build]
    (table,) = (measured.folder / "outputs" / "summary").glob("*/tables/steps.parquet")
    columns = f"step, quiesce_{name}_start, quiesce_{name}_end"
    rows = duckdb.sql(f"select {columns} from '{table}' where kind = 'quiesce' and build = '{build}'").fetchall()
    found = {step: values for step, *values in rows}
    start = found["early"][0] or found["settle"][0]  # db_bench was ended before it had said anything
    assert start > 0 or build == "mysql"  # on a busy host it has had the time to write them
    assert found["settle"][1] <= most * start


def test_a_wait_that_is_too_short_says_what_was_not_quiet(measured):
    (text,) = (measured.folder / "outputs" / "summary").glob("*/summary.txt")
    said = " ".join(text.read_text().split())
    others = r"(, early of \w+)*"  # which had the same reason
    why = r"not quiet after [\d.]+ s, what follows was measured all the same"
    assert all(re.search(rf"early of {build}{others}: {why}", said) for build in WORK)
    reason = r"(statements under way|[a-z ]+ [\d,.]+( \S+)? \(idle at )"  # which it is depends on how busy the host is
    assert re.search(rf"early of mysql{others}: {why}: {reason}", said)
    assert re.search(rf"early of rocksdb{others}: {why}: (.*; )?db_bench at work", said)
    assert "settle of" not in said.partition("read with care")[2].partition("relative to")[0]


def test_no_file_that_is_kept_has_the_password(measured):
    for folder, _ in steps(measured, "quiesce"):
        said = json.loads((folder / "request.json").read_text())
        assert oct((folder / "request.json").stat().st_mode & 0o777) == "0o600"
        assert said["access"] is None or said["access"]["password"] == ""
