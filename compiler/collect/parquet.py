"""Rows to a Parquet file: written beside it and renamed, so that a reader never sees half a table."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.collect.schema import SCHEMA
from compiler.store.durable import replacing

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = Mapping[str, object]


def connect() -> DuckDBPyConnection:
    import duckdb

    # what is built in suffices: nothing is ever downloaded
    return duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})


def write(connection: DuckDBPyConnection, path: Path, columns: Mapping[str, str], rows: Iterable[Row]) -> None:
    lines = path.with_name(f".{path.stem}.{os.getpid()}.json")
    try:
        with lines.open("w", encoding="utf-8") as file:
            file.writelines(_line(row) for row in rows)
        with replacing(path) as new:
            connection.execute(_copy(lines, columns, new))
    finally:
        lines.unlink(missing_ok=True)


def _line(row: Row) -> str:
    present = {name: value for name, value in row.items() if not _missing(value)}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":")) + "\n"


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _copy(lines: Path, columns: Mapping[str, str], target: Path) -> str:
    types = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in columns.items())
    source = f"read_json({quoted(str(lines))}, format = 'newline_delimited', columns = {{{types}}})"
    return (
        f"COPY (SELECT * FROM {source}) TO {quoted(str(target))} "
        f"(FORMAT parquet, KV_METADATA {{stepgrid_schema: '{SCHEMA}'}})"
    )


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
