"""A connection to mysqld or mariadbd, through its socket; to one that already runs also by host and port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from stepgrid.plugins.server import Access

if TYPE_CHECKING:
    import pymysql

PATIENCE = 10  # seconds for the greeting: a server that is halted takes connections and says nothing
_NOT_READY = (1040, 1053, 2002, 2003, 2013)  # too many connections, shutting down, no socket, nobody there, gone

# A variable of the session: other databases of this server are somebody else's. What lists tables goes by it.
OTHERS = "@stepgrid_others"
OWN_TABLES = f"({OTHERS} IS NULL OR table_schema = DATABASE())"


class MysqldConnection:
    def __init__(self, connection: pymysql.Connection[Any]) -> None:
        self._connection = connection

    def query(self, sql: str) -> list[Mapping[str, Any]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            found = list(cursor.fetchall()) if cursor.description else []
            while cursor.nextset():  # a procedure gives several results
                found = list(cursor.fetchall()) if cursor.description else found
        return cast("list[Mapping[str, Any]]", found)

    def close(self) -> None:
        self._connection.close()


def connect(access: Access) -> MysqldConnection:
    import pymysql
    from pymysql.cursors import DictCursor

    try:
        made = pymysql.connect(
            **_place(access),
            user=access.user,
            password=access.password,
            database=access.database,
            charset="utf8mb4",
            autocommit=True,
            cursorclass=DictCursor,
            connect_timeout=PATIENCE,
            read_timeout=PATIENCE,
        )
    except pymysql.err.OperationalError as error:
        if error.args and error.args[0] in _NOT_READY:
            raise ConnectionError(str(error.args[-1])) from None
        raise
    made._read_timeout = None  # from here on a statement may take as long as it takes
    found = MysqldConnection(made)
    if access.running:
        found.query(f"SET {OTHERS} = 'not ours'")
    return found


def _place(access: Access) -> Mapping[str, Any]:
    return {"host": access.host, "port": access.port} if access.host else {"unix_socket": str(access.socket)}
