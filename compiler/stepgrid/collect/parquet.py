"""Tables as Parquet files: written beside their names and renamed, so that a reader never sees half a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.host.files import replacing, temporary_suffix
from stepgrid.model.result_schema import SCHEMA

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = Mapping[str, object]
NUMBER = "DOUBLE"
_VIEW = "stepgrid_columns"


def connect() -> DuckDBPyConnection:
    """Connect to the one database of this process, as beginning one takes longer than most questions.

    What one connection names is temporary, and its own. One thread: more cost more than they save, where tables are
    read once.
    """
    return _shared_database().cursor()


@lru_cache(1)
def _shared_database() -> DuckDBPyConnection:
    return database(threads=1)


def database(threads: int | None = None) -> DuckDBPyConnection:
    """Begin a database for those who change its settings; without `threads`, one for each core."""
    import duckdb

    # what is built in suffices: nothing is ever downloaded
    config = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    return duckdb.connect(config={**config, "threads": threads} if threads else {**config})


def write_rows(connection: DuckDBPyConnection, path: Path, columns: Mapping[str, str], rows: Iterable[Row]) -> None:
    """Write rows by way of a file of JSON, in which what is missing or infinite is left out."""
    written = path.with_name(f".{path.stem}.{temporary_suffix()}.json")
    types = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in columns.items())
    try:
        with written.open("w", encoding="utf-8") as file:
            for row in rows:
                is_finite = {name: type(value) is not float or math.isfinite(value) for name, value in row.items()}
                present = {name: value for name, value in row.items() if value is not None and is_finite[name]}
                file.write(json.dumps(present, ensure_ascii=False, separators=(",", ":")) + "\n")
        source = f"read_json({quoted(str(written))}, format = 'newline_delimited', columns = {{{types}}})"
        write_query(connection, path, f"SELECT * FROM {source}")
    finally:
        written.unlink(missing_ok=True)


def write_query(connection: DuckDBPyConnection, path: Path, query: str) -> None:
    with replacing(path) as new:
        options = f"FORMAT parquet, USE_TMP_FILE false, KV_METADATA {{stepgrid_schema: '{SCHEMA}'}}"
        connection.execute(f"COPY ({query}) TO {quoted(str(new))} ({options})")


def write_columns(
    connection: DuckDBPyConnection, path: Path, types: Mapping[str, str], arrays: Mapping[str, object]
) -> None:
    """`arrays`: of numpy. DuckDB takes NaN for missing, but infinity for a number: there must be none."""
    cast = ", ".join(f"CAST({named(column)} AS {kind}) AS {named(column)}" for column, kind in types.items())
    connection.register(_VIEW, {column: arrays[column] for column in types})
    try:
        write_query(connection, path, f"SELECT {cast} FROM {_VIEW}")
    finally:
        connection.unregister(_VIEW)


def source(path: Path) -> str:
    """Name a table, to select from."""
    return f"read_parquet({quoted(str(path))})"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
