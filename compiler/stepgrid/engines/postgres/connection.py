"""A connection to PostgreSQL: by the private socket with the password of this start, or to one that ran before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row

from stepgrid.engines.postgres.server import OWNER
from stepgrid.plugins.server import Access

SECONDS = 10  # for one attempt; whoever waits for a server tries again
ADMITTED = "admitted"  # a file beside the socket: the password that was set in this start


class Client:
    def __init__(self, connection: psycopg.Connection[DictRow]) -> None:
        self._connection = connection

    def query(self, sql: str) -> list[Mapping[str, Any]]:
        try:
            cursor = self._connection.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []
        except psycopg.OperationalError as error:
            if self._connection.closed:
                raise ConnectionError(_said(error)) from None
            raise

    def close(self) -> None:
        self._connection.close()


def connect(access: Access) -> Client:
    """The first one after a start lets the role in (server.py)."""
    admitted = access.sockets / ADMITTED
    if access.running:
        return Client(_open(access, access.user, access.password or None, access.database))
    if not admitted.exists() or admitted.read_text(encoding="utf-8") != access.password:
        _admit(access)
        admitted.touch(mode=0o600)
        admitted.write_text(access.password, encoding="utf-8")
    return Client(_open(access, access.user, access.password, access.database))


def _open(access: Access, user: str, password: str | None, database: str) -> psycopg.Connection[DictRow]:
    try:
        return psycopg.connect(
            host=access.host or str(access.sockets),
            port=access.port,
            user=user,
            password=password,
            dbname=database,
            connect_timeout=SECONDS,
            autocommit=True,
            row_factory=dict_row,
        )
    except psycopg.OperationalError as error:
        raise ConnectionError(_said(error)) from None


def _admit(access: Access) -> None:
    """A superuser: benchmarks make checkpoints and extensions."""
    role, database = sql.Identifier(access.user), sql.Identifier(access.database)
    with _open(access, OWNER, None, "postgres") as owner:
        known = owner.execute("SELECT FROM pg_roles WHERE rolname = %s", [access.user]).fetchone() is not None
        owner.execute("SET password_encryption = 'scram-sha-256'")  # md5 is the default before 14
        verb = sql.SQL("ALTER" if known else "CREATE")
        owner.execute(sql.SQL("{} ROLE {} SUPERUSER LOGIN PASSWORD {}").format(verb, role, access.password))
        if owner.execute("SELECT FROM pg_database WHERE datname = %s", [access.database]).fetchone() is None:
            owner.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))


def _said(error: psycopg.Error) -> str:
    """The last line: the ones before name the socket."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
