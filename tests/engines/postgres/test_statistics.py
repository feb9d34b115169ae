"""Rows as PostgreSQL 12.22, 17.11 and 18.6 gave them, of more; those of idleness are the same in all three."""

import json
from decimal import Decimal

import pytest

from stepgrid.plugins.server import ServerStatistics
from stepgrid_databases.engines.postgres import statistics
from stepgrid_databases.engines.postgres.statistics import bloat, looks, shared_buffers
from tests.engines.postgres.test_server import ACCESS
from tests.engines.told import Told

# 20,000 rows of bigint, int and 60 characters, of which 14,999 were deleted and vacuumed
HEAP = {"heap_bytes": 2187264, "live_rows": 5001, "dead_rows": 0, "block_bytes": 8192, "fill_pct": None, "columns": 3}
SIZES = {
    "AS data_bytes": [
        {"schema": "public", "name": "t", "rows": 9, "data_bytes": 2220032, "index_bytes": 32768, **HEAP},
        {"schema": "public", "name": "u", "rows": -1, "data_bytes": 8192, "index_bytes": 0, **HEAP, "heap_bytes": 0},
    ],
    "FROM pg_stats": [{"schema": "public", "name": "t", "columns": 3, "width": 73.0}],
    "pg_database_size": [{"pg_database_size": 7654321}],
    "pg_relation_size": [{"schema": "public", "table": "t", "name": "t_pkey", "bytes": 16384}],
}
BUFFERS = {"release": 180006, "superuser": True, "there": True, "most": 134217728, "block": 8192}
STATEMENTS = [
    {"seen": {"query": "select 1", "calls": 3, "total_exec_time": 0.5}},
    {"seen": {"query": "select 2", "calls": 1, "total_exec_time": 7.5}},
]


@pytest.mark.parametrize(
    ("table", "width", "expected"),
    [
        ({}, {"columns": 3, "width": 73.0}, 1638400.0),
        ({"fill_pct": 50}, {"columns": 3, "width": 73.0}, 1073152.0),
        ({"live_rows": 20000}, {"columns": 3, "width": 73.0}, 0.0),
        ({"live_rows": 0}, {"columns": 3, "width": 73.0}, 2187264.0),
        ({}, {}, None),  # never analyzed
        ({"columns": 4}, {"columns": 3, "width": 73.0}, None),  # not since it got a column
        ({"heap_bytes": 0}, {}, 0.0),
    ],
)
def test_bloat(table, width, expected):
    assert bloat({**HEAP, **table}, width) == expected


def test_statements_are_counted_where_that_is_loaded():
    answers = {
        **SIZES,
        "shared_preload_libraries": [{}],
        "to_jsonb(seen) AS seen FROM pg_stat_statements": STATEMENTS,
        "FROM pg_stat_statements AS seen, ": [{"name": "calls", "value": Decimal(4)}],
    }
    connection = Told(answers)
    found = {look.name: look for look in looks(connection)}
    assert "CREATE EXTENSION pg_stat_statements" in connection.asked
    told = found["pg_stat_statements"].read()
    assert told.counters == {"pg_stat_statements.calls": 4.0}
    assert [json.loads(line)["query"] for line in told.text.splitlines()] == ["select 2", "select 1"]


@pytest.mark.parametrize("lacking", [{"release": 150004}, {"superuser": False}, {"there": False}])
def test_buffers_are_not_asked_for_where_they_cannot_be(lacking):
    connection = Told({"pg_available_extensions": [{**BUFFERS, **lacking}]})
    assert shared_buffers(connection) == ServerStatistics()
    assert len(connection.asked) == 1


def answers(row, due):
    return Told({"pg_stat_activity": [row], "AS due": [{"due": due}], "CHECKPOINT": []})


def test_sessions_at_work_are_counted_by_what_they_wait_for():
    told = Told({"FROM pg_stat_activity": [{"event": "IO:WALSync", "sessions": 2}, {"event": "", "sessions": 1}]})
    assert statistics.session_waits(told, ACCESS._replace(database="it's")) == {"IO:WALSync": 2, "": 1}
    assert "datname = 'it''s' AND state = 'active'" in told.asked[0]


def test_a_server_that_ran_before_makes_its_own():
    connection = Told({})
    with statistics.settle(connection, ACCESS._replace(running=True)):
        pass
    assert connection.asked == []


@pytest.mark.parametrize(
    ("release", "options"),
    [(110022, "ANALYZE"), (120022, "ANALYZE, INDEX_CLEANUP ON"), (180006, "ANALYZE, INDEX_CLEANUP ON")],
)
def test_all_tables_are_vacuumed(release, options, monkeypatch):
    others = Told({})
    monkeypatch.setattr(statistics, "connect", lambda access: others)
    tables = [{"name": "public.t"}, {"name": 's."T 1"'}]
    statistics.analyze(Told({"server_version_num": [{"release": release}], "pg_class": tables}), ACCESS)
    assert sorted(others.asked) == [f"VACUUM ({options}) public.t", f'VACUUM ({options}) s."T 1"']
