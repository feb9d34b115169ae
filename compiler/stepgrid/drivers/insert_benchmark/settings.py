"""What a step of kind insert_benchmark may say."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from stepgrid.plugins.settings import COUNT, DURATION, ActionFields, ActionSettings, Count, Flag, WholeSeconds, uses

Action = Literal["load", "index", "insert", "query"]
_ALL = "clients tables"

ACTIONS: Mapping[str, ActionFields] = MappingProxyType(
    {
        "load": uses("rows", f"{_ALL} rows_per_commit table_options"),
        "index": uses("", f"{_ALL} indexes"),
        "insert": uses("rows", f"{_ALL} rows_per_commit deletes"),
        "query": uses("duration", f"{_ALL} rows_per_commit deletes insert_rate query"),
    }
)


class Settings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = ACTIONS

    action: Annotated[Action, Field(description="load without indexes, index, insert with them, or query meanwhile")]
    clients: Annotated[Count, COUNT, Field(description="clients that insert, each with one that queries beside it")] = 1
    tables: Annotated[Count | None, COUNT, Field(description="tables; without it, one for each client")] = None
    rows: Annotated[Count | None, COUNT, Field(description="rows that each client inserts")] = None
    rows_per_commit: Annotated[Count, COUNT, Field(description="rows of a transaction")] = 100
    indexes: Annotated[Count, COUNT, Field(le=3, description="secondary indexes, of three shapes")] = 3
    duration: Annotated[WholeSeconds | None, DURATION, Field(description="how long the queries run")] = None
    insert_rate: Annotated[
        Count | None, COUNT, Field(description="rows that each client inserts in a second; without it, none")
    ] = None
    deletes: Annotated[Flag, Field(description="as many rows are deleted, oldest first, as are inserted")] = False
    query: Annotated[Literal["range", "point"], Field(description="by a secondary index, or by primary key")] = "range"
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE, as row_format=compressed")] = ""
