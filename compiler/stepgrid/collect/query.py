"""Questions to the tables of a plan: in SQL by readers, and by how much counters grew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stepgrid.collect import parquet
from stepgrid.language.problems import nearest
from stepgrid.model.result_schema import SCHEMA
from stepgrid.store.paths import STEPS_TABLE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NAMES = (
    *("steps", "series", "samples", "rates", "latencies", "histograms", "counters", "levels", "sizes", "events"),
    *("environment", "history", "metrics", "columns"),
)
_AGAIN = "`stepgrid report` makes them again"


class NoTables(Exception):
    """The reason: there are no tables that this version reads."""


def table_faults() -> tuple[type[Exception], ...]:
    """List what reading tables raises that were damaged since they were made."""
    from duckdb import Error

    return NoTables, Error


@contextmanager
def open_tables(
    folder: Path, connect: Callable[[], DuckDBPyConnection] = parquet.connect
) -> Iterator[DuckDBPyConnection]:
    """A view for each table, in a database that nothing can be written to."""
    with connect() as connection, _naming_damage(folder):
        create_views(connection, folder)
        yield connection


def create_views(connection: DuckDBPyConnection, folder: Path) -> None:
    with _naming_damage(folder):
        check_version(connection, folder)
        for name in NAMES:
            connection.execute(f"CREATE TEMPORARY VIEW {name} AS SELECT * FROM {table_source(folder, name)}")


@contextmanager
def _naming_damage(folder: Path) -> Iterator[None]:
    """Blame the tables for queries of our own that DuckDB refuses."""
    from duckdb import Error

    try:
        yield
    except Error as error:
        raise NoTables(f"{folder}: its tables are damaged: {str(error).splitlines()[0]}; {_AGAIN}") from None


def table_source(folder: Path, table: str) -> str:
    return parquet.source(folder / f"{table}.parquet")


def check_version(connection: DuckDBPyConnection, folder: Path) -> None:
    """Tables of another version say so, before a column is missed."""
    steps = folder / STEPS_TABLE
    if not steps.is_file():
        raise NoTables(f"there are no tables in {folder}: `stepgrid run` makes them")
    metadata = connection.execute("SELECT key::BLOB, value FROM parquet_kv_metadata(?)", [str(steps)]).fetchall()
    text = dict(metadata).get(b"stepgrid_schema", b"0").decode()
    version = int(text) if text.isdecimal() else 0
    if version < SCHEMA:
        raise NoTables(
            f"{folder}: tables of version {version}; this one reads {SCHEMA}, and collecting makes them again"
        )
    if version > SCHEMA:
        raise NoTables(f"{folder}: tables of version {version}, by a newer stepgrid; this one reads {SCHEMA}")


# SQL of a reader: rows, or one sentence that says what is wrong with it and where.

READING = ("SELECT", "EXPLAIN", "MULTI")  # MULTI: PIVOT
_COLUMN = re.compile(r'(?:Referenced column|does not have a column named) "([^"]+)"')
_TABLE = re.compile(r"Table with name (.+?) does not exist")
_EXCERPT = re.compile(r"^LINE \d+: (.*)\n( *)(\^+)", re.MULTILINE)


class QueryError(Exception):
    """The SQL cannot be answered: a sentence, and the line with a caret where that is known."""


class Answer(Struct, frozen=True):
    names: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def answer(folder: Path, sql: str) -> Answer:
    folder = folder.resolve()
    with _restricted(folder) as connection, _explaining(connection, sql):
        _check_reading(connection, sql)
        result = connection.execute(sql)
        return Answer(tuple(column[0] for column in result.description or ()), result.fetchall())


def answer_to_parquet(folder: Path, sql: str, path: Path) -> None:
    """Write the answer as it comes, however long."""
    folder, path = folder.resolve(), path.resolve()
    with _restricted(folder, path) as connection, _explaining(connection, sql):
        _check_reading(connection, sql)
        target = f"{parquet.quoted(str(path))} (FORMAT parquet, USE_TMP_FILE false)"  # it may write to no other file
        connection.execute(f"COPY ({sql.rstrip().rstrip(';')}\n) TO {target}")


@contextmanager
def _restricted(folder: Path, *written: Path) -> Iterator[DuckDBPyConnection]:
    """The tables of a folder, and no other file but those to write to."""
    with open_tables(folder, parquet.database) as connection:
        connection.execute(f"SET allowed_directories = [{parquet.quoted(str(folder.resolve()))}]")
        paths = ", ".join(parquet.quoted(str(path)) for path in (folder / STEPS_TABLE, *written))
        connection.execute(f"SET allowed_paths = [{paths}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection


def _check_reading(connection: DuckDBPyConnection, sql: str) -> None:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(
            f"one question at a time: this is {len(statements)} statements" if statements else "there is no SQL"
        )
    if statements[0].type.name not in READING:
        raise QueryError("results are only read: ask with SELECT")


@contextmanager
def _explaining(connection: DuckDBPyConnection, sql: str) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        lines = [_sentence(connection, sql, str(error))]
        if excerpt := _EXCERPT.search(str(error)):  # the caret under the line as it stands, without its number
            number = len(excerpt[0].splitlines()[0]) - len(excerpt[1])
            lines += f"  {excerpt[1]}", f"  {' ' * (len(excerpt[2]) - number)}{excerpt[3]}"
        raise QueryError("\n".join(lines)) from None


def _sentence(connection: DuckDBPyConnection, sql: str, error: str) -> str:
    if column := _COLUMN.search(error):
        return f"there is no column `{column[1]}`{_instead(connection, sql, column[1])}"
    if table := _TABLE.search(error):
        return f"there is no table `{table[1]}`: {nearest(table[1], NAMES)}"
    kind, _, rest_of_line = error.partition(": ")
    return f"{kind.removesuffix(' Error').lower()}: {rest_of_line.splitlines()[0]}" if rest_of_line else error


def _instead(connection: DuckDBPyConnection, sql: str, name: str) -> str:
    """The tables that have such a column; else a column like it of the tables that the question is about."""
    columns: list[tuple[str, str]] = connection.execute("SELECT table_name, column_name FROM columns").fetchall()
    queried = [table for table in NAMES if re.search(rf"\b{table}\b", sql, re.IGNORECASE)]
    owners = sorted({table for table, column in columns if column == name.lower()})
    if queried and owners:
        return f" in {_either('or', queried)}: {_either('and', owners)} {'has' if len(owners) == 1 else 'have'} one"
    candidates = (column for table, column in columns if table in queried or not queried)
    return f": {nearest(name, candidates)}"


def _either(word: str, tables: Sequence[str]) -> str:
    return f" {word} ".join(f"`{table}`" for table in tables)
