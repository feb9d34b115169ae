"""Vectors in MariaDB: VECTOR columns, mhnsw indexes, prepared statements on the binary protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.vector_search.datasets.shape import ANGULAR, EUCLIDEAN
from stepgrid.drivers.vector_search.servers import prepared_statement, vector_encoding
from stepgrid.drivers.vector_search.servers.prepared_statement import Statement
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
    import pymysql

    from stepgrid.drivers.vector_search.datasets.point_generator import Vectors
    from stepgrid.plugins.server import Access

STATEMENT_BYTES = 2**20  # of vectors in an INSERT
FUNCTIONS: Mapping[str, str] = {EUCLIDEAN: "VEC_DISTANCE_EUCLIDEAN", ANGULAR: "VEC_DISTANCE_COSINE"}
DISTANCES: Mapping[str, str] = {EUCLIDEAN: "euclidean", ANGULAR: "cosine"}
SETTINGS = ("mhnsw_max_cache_size", "innodb_buffer_pool_size")
# The index is a table of its own, which is hidden: its file alone tells its size.
_FILES = (
    "SELECT sum(file_size) AS bytes FROM information_schema.innodb_sys_tablespaces "
    "WHERE name LIKE concat(DATABASE(), '/', '{table}#i#%')"
)
_SHAPE = "SELECT count(*) AS total, max(length({column})) AS bytes FROM {table}"
_INDEXED = "SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() AND index_name = '{index}'"


class MariaDb:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._connection = _connect(access)

    def create(self, dimensions: int, element: str, options: str) -> None:
        if element != vector_encoding.VECTOR:
            raise SearchError(f"MariaDB has no type `{element}`: a VECTOR holds numbers of 4 bytes")
        self._run(f"DROP TABLE IF EXISTS {TABLE}")
        storage = f"ENGINE={self._access.storage_engine}" if self._access.storage_engine else ""
        columns = f"id INT NOT NULL PRIMARY KEY, {COLUMN} VECTOR({dimensions}) NOT NULL"
        self._run(f"CREATE TABLE {TABLE} ({columns}) {storage} {options}")

    def insert(self, rows: Vectors) -> Iterator[int]:
        """Many rows of a statement, each statement a transaction."""
        size = max(1, STATEMENT_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), size):
            part = vector_encoding.mariadb(rows[start : start + size])
            if start == 0 or len(part) < size:
                statement = self._insertion(len(part))
            numbered = enumerate(part, start)
            prepared_statement.done(statement.execute(statement.request([v for pair in numbered for v in pair])))
            yield start + len(part)

    def _insertion(self, rows: int) -> Statement:
        values = ", ".join(["(?, ?)"] * rows)
        return Statement(self._connection, f"INSERT INTO {TABLE} VALUES {values}")

    def index(self, plan: IndexPlan) -> Sequence[str]:
        if plan.method != "hnsw" or plan.element not in (None, vector_encoding.VECTOR):
            raise SearchError("MariaDB has HNSW indexes of vectors and no others")
        m = f"M={plan.m} " if plan.m else ""
        self._run(f"ALTER TABLE {TABLE} ADD VECTOR INDEX {INDEX} ({COLUMN}) {m}DISTANCE={DISTANCES[plan.distance]}")
        return [str(row["Message"]) for row in self._run("SHOW WARNINGS")]

    def index_size(self) -> IndexSize:
        (row,) = self._run(_FILES.format(table=TABLE))
        named = ", ".join(f"'{name}'" for name in SETTINGS)
        settings = self._run(f"SHOW GLOBAL VARIABLES WHERE variable_name IN ({named})")
        found = {str(each["Variable_name"]): str(each["Value"]) for each in settings}
        return IndexSize(None if row["bytes"] is None else float(row["bytes"]), found)

    def table(self) -> TableFacts:
        (row,) = self._run(_SHAPE.format(column=COLUMN, table=TABLE))
        return TableFacts(int(row["total"]), int(row["bytes"] or 0) // 4)

    def searcher(self, plan: SearchPlan) -> MariaDbSearcher:
        return MariaDbSearcher(_connect(self._access), plan)

    def close(self) -> None:
        self._connection.close()

    def _run(self, sql: str) -> list[Mapping[str, Any]]:
        return run(self._connection, sql)


class MariaDbSearcher:
    def __init__(self, connection: pymysql.Connection[Any], plan: SearchPlan) -> None:
        self._connection = connection
        if plan.ef_search is not None:
            run(connection, f"SET SESSION mhnsw_ef_search = {plan.ef_search}")
        indexed = bool(run(connection, _INDEXED.format(index=INDEX)))
        hint = f" IGNORE INDEX ({INDEX})" if plan.exact and indexed else ""
        distance = f"{FUNCTIONS[plan.distance]}({COLUMN}, {{}})"
        self._sql = f"SELECT id FROM {TABLE}{hint} ORDER BY {distance} LIMIT {plan.k}"
        self._statement = Statement(connection, self._sql.format("?"))

    def encode(self, queries: Vectors) -> list[bytes]:
        return [self._statement.request([each]) for each in vector_encoding.mariadb(queries)]

    def search(self, request: bytes) -> bytes:
        return self._statement.execute(request)

    def ids(self, reply: bytes) -> list[int]:
        return prepared_statement.ids(reply)

    def explain(self, query: Vectors) -> tuple[str, bool]:
        (row,) = run(self._connection, f"EXPLAIN {self._sql.format(f'''x'{query.tobytes().hex()}' ''')}")
        said = ", ".join(f"{name}={row[name]}" for name in ("type", "key", "rows", "Extra") if row.get(name))
        return said, row["key"] == INDEX

    def close(self) -> None:
        self._connection.close()


def run(connection: pymysql.Connection[Any], sql: str) -> list[Mapping[str, Any]]:
    import pymysql

    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []
    except pymysql.MySQLError as error:
        raise SearchError(f"{error.args[-1]} (error {error.args[0]})") from None


def _connect(access: Access) -> pymysql.Connection[Any]:
    import pymysql
    from pymysql.cursors import DictCursor

    place: Mapping[str, Any] = (
        {"host": access.host, "port": access.port} if access.host else {"unix_socket": str(access.socket)}
    )
    return pymysql.connect(
        **place,
        user=access.user,
        password=access.password,
        database=access.database,
        autocommit=True,
        cursorclass=DictCursor,
    )
