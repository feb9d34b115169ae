"""Vectors in PostgreSQL with pgvector: COPY and prepared statements, with binary parameters and results."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.vector_search.datasets.shape import ANGULAR, EUCLIDEAN
from stepgrid.drivers.vector_search.servers import vector_encoding
from stepgrid.drivers.vector_search.servers.vector_encoding import HALFVEC, VECTOR
from stepgrid.drivers.vector_search.servers.vector_server import (
    COLUMN,
    INDEX,
    TABLE,
    IndexPlan,
    IndexSize,
    SearchError,
    SearchPlan,
    TableFacts,
)

if TYPE_CHECKING:
    import psycopg

    from stepgrid.drivers.vector_search.datasets.point_generator import Vectors
    from stepgrid.plugins.server import Access

COPIED = 1000  # rows that are encoded at a time
PLAIN_BYTES = 8000  # a vector that fits into a page with its row is kept in the table, as published
OPERATORS: Mapping[str, str] = {EUCLIDEAN: "<->", ANGULAR: "<=>"}
CLASSES: Mapping[str, str] = {EUCLIDEAN: "l2_ops", ANGULAR: "cosine_ops"}
SETTINGS = ("maintenance_work_mem", "max_parallel_maintenance_workers", "shared_buffers")
_COPY_HEAD, _COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_STATEMENT = "nearest"
_TYPE = (
    "SELECT format_type(atttypid, atttypmod) FROM pg_attribute "
    "WHERE attrelid = '{table}'::regclass AND attname = '{column}'"
)
_DEFINITION = "SELECT indexdef FROM pg_indexes WHERE indexname = '{index}'"


class Postgres:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._connection = _connect(access)
        self._notices: list[str] = []
        self._connection.add_notice_handler(lambda said: self._notices.append(said.message_primary or ""))

    def create(self, dimensions: int, element: str, options: str) -> None:
        self._run("CREATE EXTENSION IF NOT EXISTS vector")
        self._run(f"DROP TABLE IF EXISTS {TABLE}")
        self._run(f"CREATE TABLE {TABLE} (id int NOT NULL PRIMARY KEY, {COLUMN} {element}({dimensions})) {options}")
        if dimensions * (2 if element == HALFVEC else 4) < PLAIN_BYTES:
            self._run(f"ALTER TABLE {TABLE} ALTER COLUMN {COLUMN} SET STORAGE PLAIN")

    def insert(self, rows: Vectors) -> Iterator[int]:
        element = self._element()
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {TABLE} FROM STDIN (FORMAT binary)") as copy:
            copy.write(_COPY_HEAD)
            for start in range(0, len(rows), COPIED):
                part = vector_encoding.pgvector(rows[start : start + COPIED], element)
                copy.write(b"".join(_copied(number, each) for number, each in enumerate(part, start)))
                yield start + len(part)
            copy.write(_COPY_END)

    def index(self, plan: IndexPlan) -> Sequence[str]:
        column, held = self._column(), plan.element
        kind, _, dimensions = column.rstrip(")").partition("(")
        key = COLUMN if held in (None, kind) else f"({COLUMN}::{held}({dimensions}))"
        wanted = {name: getattr(plan, name) for name in ("m", "ef_construction", "lists")}
        given = ", ".join(f"{name} = {value}" for name, value in wanted.items() if value is not None)
        options = f" WITH ({given})" if given else ""
        self._notices.clear()
        operators = f"{held or kind}_{CLASSES[plan.distance]}"
        self._run(f"CREATE INDEX {INDEX} ON {TABLE} USING {plan.method} ({key} {operators}){options}")
        return list(self._notices)

    def index_size(self) -> IndexSize:
        ((size,),) = self._run(f"SELECT pg_relation_size('{INDEX}')")
        return IndexSize(float(size), {name: self._run(f"SHOW {name}")[0][0] for name in SETTINGS})

    def table(self) -> TableFacts:
        ((rows,),) = self._run(f"SELECT count(*) FROM {TABLE}")
        return TableFacts(int(rows), int(self._column().rstrip(")").partition("(")[2]))

    def searcher(self, plan: SearchPlan) -> PostgresSearcher:
        return PostgresSearcher(_connect(self._access), plan)

    def close(self) -> None:
        self._connection.close()

    def _column(self) -> str:
        """As vector(784)."""
        return column(self._connection)

    def _element(self) -> str:
        return self._column().partition("(")[0]

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        return run(self._connection, sql)


class PostgresSearcher:
    def __init__(self, connection: psycopg.Connection[Any], plan: SearchPlan) -> None:
        from psycopg import pq

        self._connection, self._pq = connection, connection.pgconn
        self._tuples = pq.ExecStatus.TUPLES_OK
        for name, value in _session(plan).items():
            run(connection, f"SET {name} = {value}")
        key, self._element = _searched(connection, plan)
        self._sql = f"SELECT id FROM {TABLE} ORDER BY {key} {OPERATORS[plan.distance]} $1 LIMIT {plan.k}"
        run(connection, f"PREPARE {_STATEMENT}({self._element}) AS {self._sql}")

    def encode(self, queries: Vectors) -> list[bytes]:
        return vector_encoding.pgvector(queries, self._element)

    def search(self, request: bytes) -> Any:
        return self._pq.exec_prepared(_STATEMENT.encode(), [request], param_formats=[1], result_format=1)

    def ids(self, reply: Any) -> list[int]:
        if reply.status != self._tuples:
            raise SearchError(reply.error_message.decode("utf-8", "replace").strip())
        return [int.from_bytes(reply.get_value(row, 0), "big", signed=True) for row in range(reply.ntuples)]

    def explain(self, query: Vectors) -> tuple[str, bool]:
        """Both ways in which a prepared statement may be planned."""
        text = f"[{','.join(map(str, query.tolist()))}]"
        plans = []
        for mode in ("force_custom_plan", "force_generic_plan"):
            run(self._connection, f"SET plan_cache_mode = {mode}")
            ((found,),) = run(self._connection, f"EXPLAIN (FORMAT JSON) EXECUTE {_STATEMENT}('{text}')")
            plans.append(list(_nodes((json.loads(found) if isinstance(found, str) else found)[0]["Plan"])))
        run(self._connection, "RESET plan_cache_mode")
        said = " > ".join(" on ".join(filter(None, (node["Node Type"], node.get("Index Name")))) for node in plans[0])
        return said, all(any(node.get("Index Name") == INDEX for node in plan) for plan in plans)

    def close(self) -> None:
        self._connection.close()


def run(connection: psycopg.Connection[Any], sql: str) -> list[tuple[Any, ...]]:
    import psycopg

    try:
        cursor = connection.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []
    except psycopg.Error as error:
        raise SearchError(error.diag.message_primary or str(error).strip()) from None


def column(connection: psycopg.Connection[Any]) -> str:
    ((found,),) = run(connection, _TYPE.format(table=TABLE, column=COLUMN))
    return str(found)


def _searched(connection: psycopg.Connection[Any], plan: SearchPlan) -> tuple[str, str]:
    """(What is ordered by, the type of a query): an index of other elements is found by its own expression alone."""
    kind, _, dimensions = column(connection).rstrip(")").partition("(")
    index = run(connection, _DEFINITION.format(index=INDEX))
    if not plan.exact and index and kind == VECTOR and f"::{HALFVEC}" in index[0][0]:
        return f"{COLUMN}::{HALFVEC}({dimensions})", HALFVEC
    return COLUMN, kind


def _session(plan: SearchPlan) -> Mapping[str, Any]:
    if plan.exact:
        return {"enable_indexscan": "off", "enable_seqscan": "on"}
    given = {"hnsw.ef_search": plan.ef_search, "ivfflat.probes": plan.probes}
    return {name: value for name, value in given.items() if value is not None}


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


def _copied(number: int, vector: bytes) -> bytes:
    return struct.pack(">hiii", 2, 4, number, len(vector)) + vector


def _connect(access: Access) -> psycopg.Connection[Any]:
    import psycopg

    return psycopg.connect(
        host=access.host or str(access.sockets),
        port=access.port,
        user=access.user,
        password=access.password or None,
        dbname=access.database,
        autocommit=True,
    )
