"""Rows that the reads of a step found on its server, and steps that must find some."""

from collections.abc import Mapping

import pytest

from stepgrid.plugins.counters import rows_found
from stepgrid.plugins.registry import driver
from stepgrid.plugins.work import must_find

MARIADB = {"Handler_read_key": 88_363.0, "Rows_read": 0.0, "Rows_sent": 581.0}
MYSQL = {"Handler_read_key": 1000.0, "Innodb_rows_read": 3.0, "Innodb_buffer_pool_read_requests": 4000.0}
POSTGRES = {
    "pg_stat_user_tables.seq_tup_read": 0.0,
    "pg_stat_user_indexes.idx_tup_read": 900.0,
    "pg_statio_user_tables.idx_blks_hit": 2000.0,
}


@pytest.mark.parametrize(
    ("counters", "rows"),
    [
        (MARIADB, 0.0),
        (MARIADB | {"Rows_read": 46_410.0}, 46.41),
        (
            MARIADB | {"Rocksdb_rows_read": 187_022.0, "Rocksdb_number_keys_read": 187_022.0},
            187.022,
        ),  # many in one read
        (MARIADB | {"Handler_read_key": 20.0}, None),  # it is not this server that was asked
        (MYSQL, 0.003),
        (MYSQL | {"Innodb_buffer_pool_read_requests": 90.0}, None),  # tables of another storage engine
        (POSTGRES, 0.9),
        (POSTGRES | {"pg_statio_user_tables.idx_blks_hit": 0.0}, None),  # track_counts is off
        ({"Handler_read_key": 1000.0}, None),
    ],
)
def test_rows_of_an_operation(counters: Mapping[str, float], rows: float | None) -> None:
    assert rows_found(counters, 1000.0) == rows


@pytest.mark.parametrize(
    ("name", "kind", "settings", "is_told"),
    [
        ("points", "sysbench", {"lua": "point_query"}, True),
        ("point-misses", "sysbench", {"lua": "point_query"}, False),
        ("mix", "sysbench", {"lua": "read_only"}, True),
        ("mix", "sysbench", {"lua": "read_write"}, False),
        ("own", "sysbench", {"lua": "own.lua"}, False),
        ("read", "pgbench", {"action": "run", "scripts": {"select-only": {"weight": 1}}}, True),
        ("tpcb", "pgbench", {"action": "run", "scripts": {"tpcb-like": {"weight": 1}}}, False),
        ("own", "pgbench", {"action": "run", "scripts": {"own.sql": {"weight": 1}}}, False),
        ("run", "tpcc", {"action": "run", "mix": {"stock_level": 100.0}}, False),
        ("r", "insert_benchmark", {"action": "query", "query": "range", "insert_rate": None, "deletes": False}, True),
        ("r", "insert_benchmark", {"action": "query", "query": "range", "insert_rate": 100, "deletes": True}, False),
        ("get", "linkbench", {"action": "request", "mix": {"getnode": 100.0}}, False),
        ("get", "command", {"argv": ["x"]}, False),
        ("get", "sql", {"sql": ["select 1"]}, False),
        ("readrandom", "db_bench", {"benchmarks": ["readrandom"]}, False),
    ],
)
def test_steps_that_must_find_rows(name: str, kind: str, settings: Mapping[str, object], is_told: bool) -> None:
    assert driver(kind)
    assert must_find(name, kind, settings) is is_told
