"""Servers with vectors: a table, an index, and searches on connections of their own, in MariaDB and in PostgreSQL.

MariaDB has VECTOR columns and mhnsw indexes; PostgreSQL has pgvector, and is sent binary parameters. The classes of the
two have the same methods: `insert` yields how many rows are inserted so far, `index` gives the messages of the server
meanwhile, `explain` the plan of a search, and whether it uses the index. A searcher makes all its requests by `encode`
before it sends the first, and reads the ids of replies when no query is timed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from stepgrid_databases.drivers.vector_search import prepared_statement
from stepgrid_databases.drivers.vector_search.datasets import ANGULAR, EUCLIDEAN
from stepgrid_databases.drivers.vector_search.prepared_statement import SearchError, Statement

if TYPE_CHECKING:
    import psycopg
    import pymysql

    from stepgrid.plugins.server import Access
    from stepgrid_databases.drivers.vector_search.datasets import Vectors

TABLE, COLUMN, INDEX = "items", "embedding", "items_embedding"
VECTOR, HALFVEC = "vector", "halfvec"
LARGEST_HALF = 65504.0
_ELEMENT_TYPES: Mapping[str, str] = {VECTOR: ">f4", HALFVEC: ">f2"}

MARIADB_STATEMENT_BYTES = 2**20  # of vectors in an INSERT
_MARIADB_FUNCTIONS: Mapping[str, str] = {EUCLIDEAN: "VEC_DISTANCE_EUCLIDEAN", ANGULAR: "VEC_DISTANCE_COSINE"}
_MARIADB_DISTANCES: Mapping[str, str] = {EUCLIDEAN: "euclidean", ANGULAR: "cosine"}
MARIADB_SETTINGS = ("mhnsw_max_cache_size", "innodb_buffer_pool_size")
# The index is a table of its own, which is hidden: its file alone tells its size.
_MARIADB_FILES = (
    "SELECT sum(file_size) AS bytes FROM information_schema.innodb_sys_tablespaces "
    "WHERE name LIKE concat(DATABASE(), '/', '{table}#i#%')"
)
_MARIADB_SHAPE = "SELECT count(*) AS total, max(length({column})) AS bytes FROM {table}"
_MARIADB_INDEXED = (
    "SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() AND index_name = '{index}'"
)
POSTGRES_COPIED = 1000  # rows that are encoded at a time
PLAIN_BYTES = 8000  # a vector that fits into a page with its row is kept in the table, as published
_POSTGRES_OPERATORS: Mapping[str, str] = {EUCLIDEAN: "<->", ANGULAR: "<=>"}
_POSTGRES_CLASSES: Mapping[str, str] = {EUCLIDEAN: "l2_ops", ANGULAR: "cosine_ops"}
POSTGRES_SETTINGS = ("maintenance_work_mem", "max_parallel_maintenance_workers", "shared_buffers")
_COPY_HEAD, _COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_STATEMENT = "nearest"
_POSTGRES_TYPE = (
    "SELECT format_type(atttypid, atttypmod) FROM pg_attribute "
    "WHERE attrelid = '{table}'::regclass AND attname = '{column}'"
)
_POSTGRES_DEFINITION = "SELECT indexdef FROM pg_indexes WHERE indexname = '{index}'"


class IndexPlan(NamedTuple):
    """Options of an index; None leaves an option to the server's default."""

    distance: str
    method: str = "hnsw"
    element: str | None = None  # that the index holds, where it is not that of the table
    m: int | None = None
    ef_construction: int | None = None
    lists: int | None = None


class SearchPlan(NamedTuple):
    """Options of a search."""

    distance: str
    k: int
    exact: bool = False
    ef_search: int | None = None
    probes: int | None = None


class IndexSize(NamedTuple):
    bytes: float | None
    settings: Mapping[str, str]  # of the server: those that decide how an index is made


class TableFacts(NamedTuple):
    rows: int
    dimensions: int


VectorServer: TypeAlias = "MariaDb | Postgres"
Searcher: TypeAlias = "MariaDbSearcher | PostgresSearcher"


def connect(access: Access) -> VectorServer:
    return Postgres(access) if access.engine == "postgres" else MariaDb(access)


def encode_pgvector(vectors: Vectors, element: str) -> list[bytes]:
    """Encode vectors in pgvector's binary format: int16 dimensions, an unused int16, the numbers, all big-endian."""
    import numpy as np

    if element == HALFVEC and np.abs(vectors).max(initial=0.0) > LARGEST_HALF:
        raise ValueError(f"numbers beyond {LARGEST_HALF:g} do not fit into halfvec")
    head = np.array([vectors.shape[1], 0], ">i2").tobytes()
    return [head + line.tobytes() for line in vectors.astype(_ELEMENT_TYPES[element])]


def encode_mariadb(vectors: Vectors) -> list[bytes]:
    return [line.tobytes() for line in vectors.astype("<f4")]


class MariaDb:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._connection = _connect_mariadb(access)

    def create(self, dimensions: int, element: str, options: str) -> None:
        if element != VECTOR:
            raise SearchError(f"MariaDB has no type `{element}`: a VECTOR holds numbers of 4 bytes")
        self._run(f"DROP TABLE IF EXISTS {TABLE}")
        storage = f"ENGINE={self._access.storage_engine}" if self._access.storage_engine else ""
        columns = f"id INT NOT NULL PRIMARY KEY, {COLUMN} VECTOR({dimensions}) NOT NULL"
        self._run(f"CREATE TABLE {TABLE} ({columns}) {storage} {options}")

    def insert(self, rows: Vectors) -> Iterator[int]:
        """Insert many rows in each statement, which is a transaction."""
        size = max(1, MARIADB_STATEMENT_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), size):
            part = encode_mariadb(rows[start : start + size])
            if start == 0 or len(part) < size:
                values = ", ".join(["(?, ?)"] * len(part))
                statement = Statement(self._connection, f"INSERT INTO {TABLE} VALUES {values}")
            numbered = enumerate(part, start)
            prepared_statement.check_done(statement.execute(statement.request([v for pair in numbered for v in pair])))
            yield start + len(part)

    def index(self, plan: IndexPlan) -> Sequence[str]:
        if plan.method != "hnsw" or plan.element not in (None, VECTOR):
            raise SearchError("MariaDB has HNSW indexes of vectors and no others")
        m = f"M={plan.m} " if plan.m else ""
        self._run(
            f"ALTER TABLE {TABLE} ADD VECTOR INDEX {INDEX} ({COLUMN}) {m}DISTANCE={_MARIADB_DISTANCES[plan.distance]}"
        )
        return [str(row["Message"]) for row in self._run("SHOW WARNINGS")]

    def index_size(self) -> IndexSize:
        (size,) = self._run(_MARIADB_FILES.format(table=TABLE))
        named = ", ".join(f"'{name}'" for name in MARIADB_SETTINGS)
        settings = self._run(f"SHOW GLOBAL VARIABLES WHERE variable_name IN ({named})")
        values = {str(row["Variable_name"]): str(row["Value"]) for row in settings}
        return IndexSize(None if size["bytes"] is None else float(size["bytes"]), values)

    def table(self) -> TableFacts:
        (row,) = self._run(_MARIADB_SHAPE.format(column=COLUMN, table=TABLE))
        return TableFacts(int(row["total"]), int(row["bytes"] or 0) // 4)

    def searcher(self, plan: SearchPlan) -> MariaDbSearcher:
        return MariaDbSearcher(_connect_mariadb(self._access), plan)

    def close(self) -> None:
        self._connection.close()

    def _run(self, sql: str) -> list[Mapping[str, Any]]:
        return _run_mariadb(self._connection, sql)


class MariaDbSearcher:
    def __init__(self, connection: pymysql.Connection[Any], plan: SearchPlan) -> None:
        self._connection = connection
        if plan.ef_search is not None:
            _run_mariadb(connection, f"SET SESSION mhnsw_ef_search = {plan.ef_search}")
        indexed = bool(_run_mariadb(connection, _MARIADB_INDEXED.format(index=INDEX)))
        hint = f" IGNORE INDEX ({INDEX})" if plan.exact and indexed else ""
        distance = f"{_MARIADB_FUNCTIONS[plan.distance]}({COLUMN}, {{}})"
        self._sql = f"SELECT id FROM {TABLE}{hint} ORDER BY {distance} LIMIT {plan.k}"
        self._statement = Statement(connection, self._sql.format("?"))

    def encode(self, queries: Vectors) -> list[bytes]:
        return [self._statement.request([vector]) for vector in encode_mariadb(queries)]

    def search(self, request: bytes) -> bytes:
        return self._statement.execute(request)

    def ids(self, reply: bytes) -> list[int]:
        return prepared_statement.ids(reply)

    def explain(self, query: Vectors) -> tuple[str, bool]:
        (row,) = _run_mariadb(self._connection, f"EXPLAIN {self._sql.format(f'''x'{query.tobytes().hex()}' ''')}")
        text = ", ".join(f"{name}={row[name]}" for name in ("type", "key", "rows", "Extra") if row.get(name))
        return text, row["key"] == INDEX

    def close(self) -> None:
        self._connection.close()


def _run_mariadb(connection: pymysql.Connection[Any], sql: str) -> list[Mapping[str, Any]]:
    import pymysql

    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []
    except pymysql.MySQLError as error:
        raise SearchError(f"{error.args[-1]} (error {error.args[0]})") from None


def _connect_mariadb(access: Access) -> pymysql.Connection[Any]:
    import pymysql
    from pymysql.cursors import DictCursor

    address: Mapping[str, Any] = (
        {"host": access.host, "port": access.port} if access.host else {"unix_socket": str(access.socket)}
    )
    return pymysql.connect(
        **address,
        user=access.user,
        password=access.password,
        database=access.database,
        autocommit=True,
        cursorclass=DictCursor,
    )


class Postgres:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._connection = _connect_postgres(access)
        self._notices: list[str] = []
        self._connection.add_notice_handler(lambda notice: self._notices.append(notice.message_primary or ""))

    def create(self, dimensions: int, element: str, options: str) -> None:
        self._run("CREATE EXTENSION IF NOT EXISTS vector")
        self._run(f"DROP TABLE IF EXISTS {TABLE}")
        self._run(f"CREATE TABLE {TABLE} (id int NOT NULL PRIMARY KEY, {COLUMN} {element}({dimensions})) {options}")
        if dimensions * (2 if element == HALFVEC else 4) < PLAIN_BYTES:
            self._run(f"ALTER TABLE {TABLE} ALTER COLUMN {COLUMN} SET STORAGE PLAIN")

    def insert(self, rows: Vectors) -> Iterator[int]:
        element = self._column().partition("(")[0]
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {TABLE} FROM STDIN (FORMAT binary)") as copy:
            copy.write(_COPY_HEAD)
            for start in range(0, len(rows), POSTGRES_COPIED):
                part = encode_pgvector(rows[start : start + POSTGRES_COPIED], element)
                heads = (struct.pack(">hiii", 2, 4, number, len(vector)) for number, vector in enumerate(part, start))
                copy.write(b"".join(map(add, heads, part)))
                yield start + len(part)
            copy.write(_COPY_END)

    def index(self, plan: IndexPlan) -> Sequence[str]:
        column, element = self._column(), plan.element
        kind, _, dimensions = column.rstrip(")").partition("(")
        key = COLUMN if element in (None, kind) else f"({COLUMN}::{element}({dimensions}))"
        values = {name: getattr(plan, name) for name in ("m", "ef_construction", "lists")}
        assignments = ", ".join(f"{name} = {value}" for name, value in values.items() if value is not None)
        options = f" WITH ({assignments})" if assignments else ""
        self._notices.clear()
        operators = f"{element or kind}_{_POSTGRES_CLASSES[plan.distance]}"
        self._run(f"CREATE INDEX {INDEX} ON {TABLE} USING {plan.method} ({key} {operators}){options}")
        return list(self._notices)

    def index_size(self) -> IndexSize:
        ((size,),) = self._run(f"SELECT pg_relation_size('{INDEX}')")
        return IndexSize(float(size), {name: self._run(f"SHOW {name}")[0][0] for name in POSTGRES_SETTINGS})

    def table(self) -> TableFacts:
        ((rows,),) = self._run(f"SELECT count(*) FROM {TABLE}")
        return TableFacts(int(rows), int(self._column().rstrip(")").partition("(")[2]))

    def searcher(self, plan: SearchPlan) -> PostgresSearcher:
        return PostgresSearcher(_connect_postgres(self._access), plan)

    def close(self) -> None:
        self._connection.close()

    def _column(self) -> str:
        """Give the column's type, as vector(784)."""
        return _column_type(self._connection)

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        return _run_postgres(self._connection, sql)


class PostgresSearcher:
    def __init__(self, connection: psycopg.Connection[Any], plan: SearchPlan) -> None:
        from psycopg import pq

        self._connection, self._pq = connection, connection.pgconn
        self._tuples = pq.ExecStatus.TUPLES_OK
        for name, value in _session(plan).items():
            _run_postgres(connection, f"SET {name} = {value}")
        kind, _, dimensions = _column_type(connection).rstrip(")").partition("(")
        index = _run_postgres(connection, _POSTGRES_DEFINITION.format(index=INDEX))
        key, self._element = COLUMN, kind
        # an index of other elements needs its own expression
        if not plan.exact and index and kind == VECTOR and f"::{HALFVEC}" in index[0][0]:
            key, self._element = f"{COLUMN}::{HALFVEC}({dimensions})", HALFVEC
        self._sql = f"SELECT id FROM {TABLE} ORDER BY {key} {_POSTGRES_OPERATORS[plan.distance]} $1 LIMIT {plan.k}"
        _run_postgres(connection, f"PREPARE {_STATEMENT}({self._element}) AS {self._sql}")

    def encode(self, queries: Vectors) -> list[bytes]:
        return encode_pgvector(queries, self._element)

    def search(self, request: bytes) -> Any:
        return self._pq.exec_prepared(_STATEMENT.encode(), [request], param_formats=[1], result_format=1)

    def ids(self, reply: Any) -> list[int]:
        if reply.status != self._tuples:
            raise SearchError(reply.error_message.decode("utf-8", "replace").strip())
        return [int.from_bytes(reply.get_value(row, 0), "big", signed=True) for row in range(reply.ntuples)]

    def explain(self, query: Vectors) -> tuple[str, bool]:
        """Plan the search in both ways in which a prepared statement may be planned."""
        text = f"[{','.join(map(str, query.tolist()))}]"
        plans = []
        for mode in ("force_custom_plan", "force_generic_plan"):
            _run_postgres(self._connection, f"SET plan_cache_mode = {mode}")
            ((plan,),) = _run_postgres(self._connection, f"EXPLAIN (FORMAT JSON) EXECUTE {_STATEMENT}('{text}')")
            plans.append(list(_nodes((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])))
        _run_postgres(self._connection, "RESET plan_cache_mode")
        text = " > ".join(" on ".join(filter(None, (node["Node Type"], node.get("Index Name")))) for node in plans[0])
        return text, all(any(node.get("Index Name") == INDEX for node in nodes) for nodes in plans)

    def close(self) -> None:
        self._connection.close()


def _run_postgres(connection: psycopg.Connection[Any], sql: str) -> list[tuple[Any, ...]]:
    import psycopg

    try:
        cursor = connection.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []
    except psycopg.Error as error:
        raise SearchError(error.diag.message_primary or str(error).strip()) from None


def _column_type(connection: psycopg.Connection[Any]) -> str:
    ((kind,),) = _run_postgres(connection, _POSTGRES_TYPE.format(table=TABLE, column=COLUMN))
    return str(kind)


def _session(plan: SearchPlan) -> Mapping[str, Any]:
    if plan.exact:
        return {"enable_indexscan": "off", "enable_seqscan": "on"}
    values = {"hnsw.ef_search": plan.ef_search, "ivfflat.probes": plan.probes}
    return {name: value for name, value in values.items() if value is not None}


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


def _connect_postgres(access: Access) -> psycopg.Connection[Any]:
    import psycopg

    return psycopg.connect(
        host=access.host or str(access.sockets),
        port=access.port,
        user=access.user,
        password=access.password or None,
        dbname=access.database,
        autocommit=True,
    )
