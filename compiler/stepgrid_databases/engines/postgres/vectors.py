"""Vectors in PostgreSQL: pgvector's columns and indexes, and searches by prepared statements with binary parameters."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from operator import add
from typing import TYPE_CHECKING, Any

from stepgrid.plugins.server import Access, ServerRow
from stepgrid_databases.engines.postgres.connection import PostgresConnection, connect
from stepgrid_databases.vectors import (
    ANGULAR,
    COLUMN,
    EUCLIDEAN,
    HALFVEC,
    INDEX,
    TABLE,
    VECTOR,
    IndexPlan,
    IndexSize,
    SearchPlan,
    TableFacts,
    VectorError,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST_HALF = 65504.0
COPIED = 1000  # rows that are encoded at a time
PLAIN_BYTES = 8000  # a vector that fits into a page with its row is kept in the table, as published
SETTINGS = ("maintenance_work_mem", "max_parallel_maintenance_workers", "shared_buffers")
_ELEMENT_TYPES: Mapping[str, str] = {VECTOR: ">f4", HALFVEC: ">f2"}
_OPERATORS: Mapping[str, str] = {EUCLIDEAN: "<->", ANGULAR: "<=>"}
_CLASSES: Mapping[str, str] = {EUCLIDEAN: "l2_ops", ANGULAR: "cosine_ops"}
_COPY_HEAD, _COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_STATEMENT = "nearest"
_TYPE = (
    "SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute "
    f"WHERE attrelid = '{TABLE}'::regclass AND attname = '{COLUMN}'"
)
_DEFINITION = f"SELECT indexdef FROM pg_indexes WHERE indexname = '{INDEX}'"


def encode(vectors: NDArray[np.float32], element: str) -> list[bytes]:
    """Encode vectors in pgvector's binary format: int16 dimensions, an unused int16, the numbers, all big-endian."""
    import numpy as np

    if element == HALFVEC and np.abs(vectors).max(initial=0.0) > LARGEST_HALF:
        raise ValueError(f"numbers beyond {LARGEST_HALF:g} do not fit into halfvec")
    head = np.array([vectors.shape[1], 0], ">i2").tobytes()
    return [head + line.tobytes() for line in vectors.astype(_ELEMENT_TYPES[element])]


class PostgresVectors:
    def __init__(self, access: Access) -> None:
        self._access, self._connection = access, connect(access)
        self._notices: list[str] = []
        self._connection.client.add_notice_handler(lambda notice: self._notices.append(notice.message_primary or ""))

    def create(self, dimensions: int, element: str, options: str) -> None:
        self._run("CREATE EXTENSION IF NOT EXISTS vector")
        self._run(f"DROP TABLE IF EXISTS {TABLE}")
        self._run(f"CREATE TABLE {TABLE} (id int NOT NULL PRIMARY KEY, {COLUMN} {element}({dimensions})) {options}")
        if dimensions * (2 if element == HALFVEC else 4) < PLAIN_BYTES:
            self._run(f"ALTER TABLE {TABLE} ALTER COLUMN {COLUMN} SET STORAGE PLAIN")

    def insert(self, rows: NDArray[np.float32]) -> Iterator[int]:
        element, _ = _column(self._connection)
        with (
            self._connection.client.cursor() as cursor,
            cursor.copy(f"COPY {TABLE} FROM STDIN (FORMAT binary)") as copy,
        ):
            copy.write(_COPY_HEAD)
            for start in range(0, len(rows), COPIED):
                part = encode(rows[start : start + COPIED], element)
                heads = (struct.pack(">hiii", 2, 4, number, len(vector)) for number, vector in enumerate(part, start))
                copy.write(b"".join(map(add, heads, part)))
                yield start + len(part)
            copy.write(_COPY_END)

    def index(self, plan: IndexPlan) -> Sequence[str]:
        (kind, dimensions), element = _column(self._connection), plan.element
        key = COLUMN if element in (None, kind) else f"({COLUMN}::{element}({dimensions}))"
        values = {name: getattr(plan, name) for name in ("m", "ef_construction", "lists")}
        assignments = ", ".join(f"{name} = {value}" for name, value in values.items() if value is not None)
        options = f" WITH ({assignments})" if assignments else ""
        self._notices.clear()
        operators = f"{element or kind}_{_CLASSES[plan.distance]}"
        self._run(f"CREATE INDEX {INDEX} ON {TABLE} USING {plan.method} ({key} {operators}){options}")
        return list(self._notices)

    def index_size(self) -> IndexSize:
        (row,) = self._run(f"SELECT pg_relation_size('{INDEX}') AS bytes")
        return IndexSize(float(row["bytes"]), {name: self._run(f"SHOW {name}")[0][name] for name in SETTINGS})

    def table(self) -> TableFacts:
        (row,) = self._run(f"SELECT count(*) AS rows FROM {TABLE}")
        return TableFacts(int(row["rows"]), int(_column(self._connection)[1]))

    def searcher(self, plan: SearchPlan) -> PostgresSearcher:
        return PostgresSearcher(connect(self._access), plan)

    def close(self) -> None:
        self._connection.close()

    def _run(self, sql: str) -> list[ServerRow]:
        return _run(self._connection, sql)


class PostgresSearcher:
    def __init__(self, connection: PostgresConnection, plan: SearchPlan) -> None:
        from psycopg import pq

        self._connection, self._pq = connection, connection.client.pgconn
        self._tuples = pq.ExecStatus.TUPLES_OK
        for name, value in _session(plan).items():
            _run(connection, f"SET {name} = {value}")
        kind, dimensions = _column(connection)
        index = _run(connection, _DEFINITION)
        key, self._element = COLUMN, kind
        # an index of other elements needs its own expression
        if not plan.exact and index and kind == VECTOR and f"::{HALFVEC}" in index[0]["indexdef"]:
            key, self._element = f"{COLUMN}::{HALFVEC}({dimensions})", HALFVEC
        self._sql = f"SELECT id FROM {TABLE} ORDER BY {key} {_OPERATORS[plan.distance]} $1 LIMIT {plan.k}"
        _run(connection, f"PREPARE {_STATEMENT}({self._element}) AS {self._sql}")

    def encode(self, queries: NDArray[np.float32]) -> list[bytes]:
        return encode(queries, self._element)

    def search(self, request: bytes) -> Any:
        return self._pq.exec_prepared(_STATEMENT.encode(), [request], param_formats=[1], result_format=1)

    def ids(self, reply: Any) -> list[int]:
        if reply.status != self._tuples:
            raise VectorError(reply.error_message.decode("utf-8", "replace").strip())
        return [int.from_bytes(reply.get_value(row, 0), "big", signed=True) for row in range(reply.ntuples)]

    def explain(self, query: NDArray[np.float32]) -> tuple[str, bool]:
        """Plan the search in both ways in which a prepared statement may be planned."""
        text = f"[{','.join(map(str, query.tolist()))}]"
        plans = []
        for mode in ("force_custom_plan", "force_generic_plan"):
            _run(self._connection, f"SET plan_cache_mode = {mode}")
            (row,) = _run(self._connection, f"EXPLAIN (FORMAT JSON) EXECUTE {_STATEMENT}('{text}')")
            (plan,) = row.values()
            plans.append(list(_nodes((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])))
        _run(self._connection, "RESET plan_cache_mode")
        text = " > ".join(" on ".join(filter(None, (node["Node Type"], node.get("Index Name")))) for node in plans[0])
        return text, all(any(node.get("Index Name") == INDEX for node in nodes) for nodes in plans)

    def close(self) -> None:
        self._connection.close()


def _run(connection: PostgresConnection, sql: str) -> list[ServerRow]:
    import psycopg

    try:
        return connection.query(sql)
    except psycopg.Error as error:
        raise VectorError(error.diag.message_primary or str(error).strip()) from None


def _column(connection: PostgresConnection) -> tuple[str, str]:
    """Split the column's type, as vector(784)."""
    (row,) = _run(connection, _TYPE)
    kind, _, dimensions = str(row["type"]).rstrip(")").partition("(")
    return kind, dimensions


def _session(plan: SearchPlan) -> Mapping[str, Any]:
    if plan.exact:
        return {"enable_indexscan": "off", "enable_seqscan": "on"}
    values = {"hnsw.ef_search": plan.ef_search, "ivfflat.probes": plan.probes}
    return {name: value for name, value in values.items() if value is not None}


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)
