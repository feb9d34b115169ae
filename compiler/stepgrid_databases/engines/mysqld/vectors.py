"""Vectors in MariaDB: VECTOR columns, mhnsw indexes, and searches by prepared statements on the binary protocol."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepgrid.plugins.server import Access, ServerRow
from stepgrid_databases.engines.mysqld.connection import MysqldConnection, connect, named_variables
from stepgrid_databases.vectors import (
    ANGULAR,
    COLUMN,
    EUCLIDEAN,
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
    import pymysql
    from numpy.typing import NDArray

STATEMENT_BYTES = 2**20  # of vectors in an INSERT
SETTINGS = ("mhnsw_max_cache_size", "innodb_buffer_pool_size")
_FUNCTIONS: Mapping[str, str] = {EUCLIDEAN: "VEC_DISTANCE_EUCLIDEAN", ANGULAR: "VEC_DISTANCE_COSINE"}
_DISTANCES: Mapping[str, str] = {EUCLIDEAN: "euclidean", ANGULAR: "cosine"}
# The index is a table of its own, which is hidden: its file alone tells its size.
_FILES = (
    "SELECT sum(file_size) AS bytes FROM information_schema.innodb_sys_tablespaces "
    f"WHERE name LIKE concat(DATABASE(), '/', '{TABLE}#i#%')"
)
_SHAPE = f"SELECT count(*) AS total, max(length({COLUMN})) AS bytes FROM {TABLE}"
_INDEXED = f"SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() AND index_name = '{INDEX}'"


def encode(vectors: NDArray[np.float32]) -> list[bytes]:
    return [line.tobytes() for line in vectors.astype("<f4")]


class MariaDBVectors:
    def __init__(self, access: Access) -> None:
        self._access, self._connection = access, connect(access)

    def create(self, dimensions: int, element: str, options: str) -> None:
        if element != VECTOR:
            raise VectorError(f"MariaDB has no type `{element}`: a VECTOR holds numbers of 4 bytes")
        self._run(f"DROP TABLE IF EXISTS {TABLE}")
        storage = f"ENGINE={self._access.storage_engine}" if self._access.storage_engine else ""
        columns = f"id INT NOT NULL PRIMARY KEY, {COLUMN} VECTOR({dimensions}) NOT NULL"
        self._run(f"CREATE TABLE {TABLE} ({columns}) {storage} {options}")

    def insert(self, rows: NDArray[np.float32]) -> Iterator[int]:
        """Insert many rows in each statement, which is a transaction."""
        size = max(1, STATEMENT_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), size):
            part = encode(rows[start : start + size])
            if start == 0 or len(part) < size:
                values = ", ".join(["(?, ?)"] * len(part))
                statement = Statement(self._connection.client, f"INSERT INTO {TABLE} VALUES {values}")
            numbered = enumerate(part, start)
            check_done(statement.execute(statement.request([v for pair in numbered for v in pair])))
            yield start + len(part)

    def index(self, plan: IndexPlan) -> Sequence[str]:
        if plan.method != "hnsw" or plan.element not in (None, VECTOR):
            raise VectorError("MariaDB has HNSW indexes of vectors and no others")
        m = f"M={plan.m} " if plan.m else ""
        self._run(f"ALTER TABLE {TABLE} ADD VECTOR INDEX {INDEX} ({COLUMN}) {m}DISTANCE={_DISTANCES[plan.distance]}")
        return [str(row["Message"]) for row in self._run("SHOW WARNINGS")]

    def index_size(self) -> IndexSize:
        (size,) = self._run(_FILES)
        settings = named_variables(self._connection, SETTINGS)
        return IndexSize(None if size["bytes"] is None else float(size["bytes"]), settings)

    def table(self) -> TableFacts:
        (row,) = self._run(_SHAPE)
        return TableFacts(int(row["total"]), int(row["bytes"] or 0) // 4)

    def searcher(self, plan: SearchPlan) -> MariaDBSearcher:
        return MariaDBSearcher(connect(self._access), plan)

    def close(self) -> None:
        self._connection.close()

    def _run(self, sql: str) -> list[ServerRow]:
        return _run(self._connection, sql)


class MariaDBSearcher:
    def __init__(self, connection: MysqldConnection, plan: SearchPlan) -> None:
        self._connection = connection
        if plan.ef_search is not None:
            _run(connection, f"SET SESSION mhnsw_ef_search = {plan.ef_search}")
        hint = f" IGNORE INDEX ({INDEX})" if plan.exact and _run(connection, _INDEXED) else ""
        distance = f"{_FUNCTIONS[plan.distance]}({COLUMN}, {{}})"
        self._sql = f"SELECT id FROM {TABLE}{hint} ORDER BY {distance} LIMIT {plan.k}"
        self._statement = Statement(connection.client, self._sql.format("?"))
        self.search = self._statement.execute
        self.ids = ids

    def encode(self, queries: NDArray[np.float32]) -> list[bytes]:
        return [self._statement.request([vector]) for vector in encode(queries)]

    def explain(self, query: NDArray[np.float32]) -> tuple[str, bool]:
        (row,) = _run(self._connection, f"EXPLAIN {self._sql.format(f'''x'{query.tobytes().hex()}' ''')}")
        text = ", ".join(f"{name}={row[name]}" for name in ("type", "key", "rows", "Extra") if row.get(name))
        return text, row["key"] == INDEX

    def close(self) -> None:
        self._connection.close()


def _run(connection: MysqldConnection, sql: str) -> list[ServerRow]:
    import pymysql

    try:
        return connection.query(sql)
    except pymysql.MySQLError as error:
        raise VectorError(f"{error.args[-1]} (error {error.args[0]})") from None


# Prepared statements on the binary protocol, which PyMySQL does not speak. PyMySQL connects and says who it is; then
# its socket is ours. A request is whole before it is sent, and an answer is read apart only when it is asked for its
# numbers: between the two there is a send and a receive.

PREPARE, EXECUTE = b"\x16", b"\x17"
LONG, BLOB = 3, 252  # types of parameters
END, ERROR = 0xFE, 0xFF
HEAD, SHORTEST_END = 4, 9  # bytes: of a packet's head; an end is shorter than any row that begins with the same byte
LARGEST = 2**24 - 1  # bytes of a packet
RECEIVED = 2**16
_COLUMN_OF_INT = slice(2, 6)  # in a row of one INT: a zero and the bitmap of NULLs come before


class Statement:
    """A statement on a connection that does nothing else."""

    def __init__(self, connection: pymysql.Connection[Any], sql: str) -> None:
        self._socket: Any = connection._sock
        self._id = check_done(self._answer(_packet(PREPARE + sql.encode()), is_whole=_prepared))[1:5]

    def request(self, parameters: Sequence[bytes | int]) -> bytes:
        types = b"".join(struct.pack("<H", LONG if isinstance(value, int) else BLOB) for value in parameters)
        values = b"".join(map(_value, parameters))
        nulls = bytes((len(parameters) + 7) // 8)
        return _packet(EXECUTE + self._id + b"\0" + struct.pack("<I", 1) + nulls + b"\1" + types + values)

    def execute(self, request: bytes) -> bytes:
        """Send a request; `ids` or `check_done` read the answer."""
        return self._answer(request, is_whole=_answered)

    def _answer(self, request: bytes, is_whole: Any) -> bytes:
        self._socket.sendall(request)
        answer: bytes = self._socket.recv(RECEIVED)
        while not is_whole(answer):
            part = self._socket.recv(RECEIVED)
            if not part:
                raise VectorError("the server closed the connection")
            answer += part
        return answer


def ids(answer: bytes) -> list[int]:
    """Read an answer of rows with one INT."""
    payloads = list(_payloads(answer))
    if payloads[-1][0] == ERROR:  # also after some rows
        raise VectorError(_message(payloads[-1]))
    return [int.from_bytes(row[_COLUMN_OF_INT], "little", signed=True) for row in payloads[3:-1]]


def check_done(answer: bytes) -> bytes:
    """Check the answer of a statement that gives no rows, and return its first packet."""
    first: bytes = next(_payloads(answer))
    if first[0] == ERROR:
        raise VectorError(_message(first))
    return first


def _packet(payload: bytes) -> bytes:
    if len(payload) >= LARGEST:
        raise VectorError(f"a statement of {len(payload):,} bytes is larger than a packet")
    return struct.pack("<I", len(payload)) + payload  # the fourth byte is the number of the packet: 0


def _value(parameter: bytes | int) -> bytes:
    if isinstance(parameter, int):
        return struct.pack("<i", parameter)
    size = len(parameter)
    if size < 251:
        return bytes([size]) + parameter
    return (b"\xfc" + struct.pack("<H", size) if size < 2**16 else b"\xfd" + struct.pack("<I", size)[:3]) + parameter


def _payloads(answer: bytes) -> Any:
    offset = 0
    while offset + HEAD <= len(answer):
        size = answer[offset] | answer[offset + 1] << 8 | answer[offset + 2] << 16
        yield answer[offset + HEAD : offset + HEAD + size]
        offset += HEAD + size


def _answered(answer: bytes) -> bool:
    """Check that an answer is whole: one packet, or columns, an end, rows, an end."""
    offset, ends, size = 0, 0, len(answer)
    while offset + HEAD < size:
        length = answer[offset] | answer[offset + 1] << 8 | answer[offset + 2] << 16
        kind = answer[offset + HEAD]
        after = offset + HEAD + length
        if offset == 0 and kind in (0, ERROR):
            return after <= size
        if (kind == END and length < SHORTEST_END) or kind == ERROR:
            ends += 1 if kind == END else 2
            if ends >= 2:
                return after <= size
        offset = after
    return False


def _prepared(answer: bytes) -> bool:
    """Check that it is whole: a head, then parameters and columns, each list with an end where it is not empty."""
    if len(answer) < HEAD + 1 or (answer[HEAD] != ERROR and len(answer) < HEAD + SHORTEST_END):
        return False
    if answer[HEAD] == ERROR:
        return _answered(answer)
    columns, parameters = struct.unpack_from("<HH", answer, HEAD + 5)
    wanted = 1 + sum(count + 1 for count in (columns, parameters) if count)
    offset = 0
    for _ in range(wanted):
        if offset + HEAD > len(answer):
            return False
        offset += HEAD + int.from_bytes(answer[offset : offset + 3], "little")
    return offset <= len(answer)


def _message(payload: bytes) -> str:
    """Read an error: a code, then a state that begins with #."""
    (code,) = struct.unpack_from("<H", payload, 1)
    text = payload[3:].decode("utf-8", "replace")
    return f"{text[6:] if text.startswith('#') else text} (error {code})"
