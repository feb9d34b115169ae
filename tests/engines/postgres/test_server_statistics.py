"""What PostgreSQL 18.6 and 12.22 said, of more rows."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from stepgrid.engines.postgres.server_statistics import looks
from stepgrid.plugins.server_statistics import ServerStatistics
from tests.engines.told import Told as Connection

SIZES: dict[str, list[Any]] = {
    "AS data_bytes": [
        {"schema": "public", "name": "t", "rows": 9, "data_bytes": 49152, "index_bytes": 32768},
        {"schema": "public", "name": "u", "rows": -1, "data_bytes": 8192, "index_bytes": 0},
    ],
    "pg_database_size": [{"pg_database_size": 7654321}],
    "pg_relation_size": [{"schema": "public", "table": "t", "name": "t_pkey", "bytes": 16384}],
}
VIEWS: dict[str, list[Any]] = {
    "relname AS name": [{"name": "pg_stat_user_tables"}, {"name": "pg_stat_io"}],
    "FROM pg_stat_user_tables": [
        {"name": "n_tup_ins", "value": Decimal(9)}, {"name": "n_dead_tup", "value": Decimal(2)}
    ],
    "FROM pg_stat_io": [
        {"backend_type": "client backend", "object": "relation", "context": "normal", "reads": 4, "op_bytes": 8192},
        {"backend_type": "checkpointer", "object": "relation", "context": "normal", "reads": None, "op_bytes": 8192},
    ],
    "relname IN ('pg_stat_database'": [],
}  # fmt: skip
STATEMENTS = [
    {"seen": {"query": "select 1", "calls": 3, "total_exec_time": 0.5}},
    {"seen": {"query": "select 2", "calls": 1, "total_exec_time": 7.5}},
]


def _told(answers: dict[str, list[Any]]) -> dict[str, ServerStatistics]:
    return {look.name: look.read() for look in looks(Connection(answers))}


def test_views_and_sizes() -> None:
    found = _told({**SIZES, **VIEWS})
    assert [*found] == ["tables", "indexes", "pg_stat_user_tables", "pg_stat_io", "views"]
    assert found["tables"].sizes == {"data_bytes": 57344.0, "index_bytes": 32768.0}
    assert found["tables"].gauges == {"pg_database_size": 7654321.0}
    assert found["indexes"].text == '{"schema": "public", "table": "t", "name": "t_pkey", "bytes": 16384}\n'
    assert found["pg_stat_user_tables"] == ServerStatistics(
        {"pg_stat_user_tables.n_tup_ins": 9.0}, {"pg_stat_user_tables.n_dead_tup": 2.0}
    )
    assert found["pg_stat_io"].counters == {"pg_stat_io.client backend.relation.normal.reads": 4.0}


def test_statements_are_counted_where_that_is_loaded() -> None:
    answers: dict[str, list[Any]] = {
        **SIZES,
        "shared_preload_libraries": [{}],
        "to_jsonb(seen) AS seen FROM pg_stat_statements": STATEMENTS,
        "FROM pg_stat_statements AS seen, ": [{"name": "calls", "value": Decimal(4)}],
    }
    connection = Connection(answers)
    found = {look.name: look for look in looks(connection)}
    assert "CREATE EXTENSION pg_stat_statements" in connection.asked
    told = found["pg_stat_statements"].read()
    assert told.counters == {"pg_stat_statements.calls": 4.0}
    assert [json.loads(line)["query"] for line in told.text.splitlines()] == ["select 2", "select 1"]
