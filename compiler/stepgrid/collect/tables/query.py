"""A question in SQL to the tables of a plan: rows, or one sentence that says what is wrong with it and where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.collect.tables import parquet, table_views
from stepgrid.language.problems.suggestion import nearest

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READING = ("SELECT", "EXPLAIN", "MULTI")  # MULTI: PIVOT
_COLUMN = re.compile(r'(?:Referenced column|does not have a column named) "([^"]+)"')
_TABLE = re.compile(r"Table with name (.+?) does not exist")
_PLACE = re.compile(r"^LINE \d+: (.*)\n( *)(\^+)", re.MULTILINE)


class QueryError(Exception):
    """The SQL cannot be answered: a sentence, and the line with a caret where that is known."""


@dataclass(frozen=True, slots=True)
class Answer:
    names: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


@contextmanager
def asked(folder: Path, *written: Path) -> Iterator[DuckDBPyConnection]:
    """The tables of a folder, and no other file but those to write to."""
    with table_views.opened(folder, parquet.database) as connection:
        connection.execute(f"SET allowed_directories = [{parquet.quoted(str(folder.resolve()))}]")
        paths = ", ".join(parquet.quoted(str(path)) for path in (folder / "steps.parquet", *written))
        connection.execute(f"SET allowed_paths = [{paths}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection


def answer(folder: Path, sql: str) -> Answer:
    folder = folder.resolve()
    with asked(folder) as connection, _told(connection, sql):
        _only_reads(connection, sql)
        found = connection.execute(sql)
        return Answer(tuple(column[0] for column in found.description or ()), found.fetchall())


def to_parquet(folder: Path, sql: str, path: Path) -> None:
    """The answer as a file; it is written as it comes, however long."""
    folder, path = folder.resolve(), path.resolve()
    with asked(folder, path) as connection, _told(connection, sql):
        _only_reads(connection, sql)
        target = f"{parquet.quoted(str(path))} (FORMAT parquet, USE_TMP_FILE false)"  # it may write to no other file
        connection.execute(f"COPY ({sql.rstrip().rstrip(';')}\n) TO {target}")


def _only_reads(connection: DuckDBPyConnection, sql: str) -> None:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(
            f"one question at a time: this is {len(statements)} statements" if statements else "there is no SQL"
        )
    if statements[0].type.name not in READING:
        raise QueryError("results are only read: ask with SELECT")


@contextmanager
def _told(connection: DuckDBPyConnection, sql: str) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise QueryError(_said(connection, sql, str(error))) from None


def _said(connection: DuckDBPyConnection, sql: str, error: str) -> str:
    place = _PLACE.search(error)
    return "\n".join([_sentence(connection, sql, error), *(_caret(place) if place else ())])


def _sentence(connection: DuckDBPyConnection, sql: str, error: str) -> str:
    if column := _COLUMN.search(error):
        return f"there is no column `{column[1]}`{_instead(connection, sql, column[1])}"
    if table := _TABLE.search(error):
        return f"there is no table `{table[1]}`: {nearest(table[1], table_views.NAMES)}"
    kind, _, rest = error.partition(": ")
    return f"{kind.removesuffix(' Error').lower()}: {rest.splitlines()[0]}" if rest else error


def _caret(place: re.Match[str]) -> tuple[str, str]:
    """Under the line as it stands, without its number."""
    number = len(place[0].splitlines()[0]) - len(place[1])
    return f"  {place[1]}", f"  {' ' * (len(place[2]) - number)}{place[3]}"


def _instead(connection: DuckDBPyConnection, sql: str, name: str) -> str:
    """The tables that have such a column; else a column like it of the tables that the question is about."""
    there: list[tuple[str, str]] = connection.execute("SELECT table_name, column_name FROM columns").fetchall()
    about = [table for table in table_views.NAMES if re.search(rf"\b{table}\b", sql, re.IGNORECASE)]
    others = sorted({table for table, column in there if column == name.lower()})
    if about and others:
        return f" in {_either('or', about)}: {_either('and', others)} {'has' if len(others) == 1 else 'have'} one"
    known = (column for table, column in there if table in about or not about)
    return f": {nearest(name, known)}"


def _either(word: str, tables: Sequence[str]) -> str:
    return f" {word} ".join(f"`{table}`" for table in tables)
