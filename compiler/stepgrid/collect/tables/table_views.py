"""The tables of a plan, opened by name: each as a view over its parts, in a database that nothing can be written to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.collect.tables import parquet
from stepgrid.model.result_schema import SCHEMA

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NAMES = (
    *("steps", "series", "samples", "rates", "latencies", "histograms", "counters", "levels", "sizes"),
    *("environment", "history", "metrics", "columns"),
)


_AGAIN = "`stepgrid report` makes them again"


class NoTables(Exception):
    """Why there are none that this version reads."""


def faults() -> tuple[type[Exception], ...]:
    """What reading tables raises that were damaged since they were made."""
    from duckdb import Error

    return NoTables, Error


@contextmanager
def opened(folder: Path, connect: Callable[[], DuckDBPyConnection] = parquet.connect) -> Iterator[DuckDBPyConnection]:
    with connect() as connection, _naming_damage(folder):
        create(connection, folder)
        yield connection


def create(connection: DuckDBPyConnection, folder: Path) -> None:
    with _naming_damage(folder):
        check(connection, folder)
        for name in NAMES:
            connection.execute(f"CREATE TEMPORARY VIEW {name} AS SELECT * FROM {source(folder, name)}")


@contextmanager
def _naming_damage(folder: Path) -> Iterator[None]:
    """What DuckDB refuses of queries of our own is a fault of the tables."""
    from duckdb import Error

    try:
        yield
    except Error as error:
        raise NoTables(f"{folder}: its tables are damaged: {str(error).splitlines()[0]}; {_AGAIN}") from None


def source(folder: Path, table: str) -> str:
    """What to select from: the table's parts."""
    return parquet.files(sorted(folder.glob(f"{table}.parquet")) + sorted(folder.glob(f"{table}.[0-9]*.parquet")))


def check(connection: DuckDBPyConnection, folder: Path) -> None:
    """Tables of another version say so, before a column is missed."""
    steps = folder / "steps.parquet"
    if not steps.is_file():
        raise NoTables(f"there are no tables in {folder}: `stepgrid run` makes them")
    found = connection.execute("SELECT key::BLOB, value FROM parquet_kv_metadata(?)", [str(steps)]).fetchall()
    said = dict(found).get(b"stepgrid_schema", b"0").decode()
    version = int(said) if said.isdecimal() else 0
    if version < SCHEMA:
        raise NoTables(
            f"{folder}: tables of version {version}; this one reads {SCHEMA}, and collecting makes them again"
        )
    if version > SCHEMA:
        raise NoTables(f"{folder}: tables of version {version}, by a newer stepgrid; this one reads {SCHEMA}")
