"""Settings of a step of kind insert_benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from stepgrid.language.validation import sentence_error
from stepgrid.plugins.settings import COUNT, DURATION, ActionFields, ActionSettings, Count, Flag, WholeSeconds, uses
from stepgrid_databases.drivers.rate_settings import Arrivals, LatencyLimit, Rate
from stepgrid_databases.drivers.sysbench.lua_client import CLIENT

Statement = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^;]+$")]
Action = Literal["load", "index", "insert", "query", "check"]
_ALL = "clients tables"
_INSERTS = f"{_ALL} rows_per_commit deletes session"
_CREATED = "table_options data_length_min data_length_max partitions rows_per_partition"


class InsertBenchmarkSettings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = {
        "load": uses("rows", f"{_ALL} rows_per_commit session {_CREATED}"),
        "index": uses("", f"{_ALL} indexes first_rows"),
        "insert": uses("rows", _INSERTS),
        "query": uses(
            "duration", f"{_INSERTS} insert_rate query rows_per_query indexes ends rate arrivals latency_limit"
        ),
        "check": uses(""),
    }

    action: Annotated[
        Action, Field(description="load without indexes, index, insert with them, query meanwhile; or check the rows")
    ]
    clients: Annotated[Count, COUNT, Field(description="clients that insert, each with one that queries beside it")] = 1
    tables: Annotated[Count | None, COUNT, Field(description="tables; without it, one for each client")] = None
    rows: Annotated[Count | None, COUNT, Field(description="rows that each client inserts")] = None
    rows_per_commit: Annotated[
        Count, COUNT, Field(description="rows of a transaction, which is one INSERT; no more than the rate of inserts")
    ] = 100
    indexes: Annotated[Count, COUNT, Field(le=3, description="secondary indexes, of three shapes")] = 3
    first_rows: Annotated[Count, COUNT, Field(description="rows that each client inserts before the indexes")] = 100
    duration: Annotated[WholeSeconds | None, DURATION, Field(description="how long the queries run")] = None
    insert_rate: Annotated[
        Count | None, COUNT, Field(description="rows that each client inserts in a second; without it, none")
    ] = None
    deletes: Annotated[Flag, Field(description="as many rows are deleted, oldest first, as are inserted")] = False
    query: Annotated[Literal["range", "point"], Field(description="by a secondary index, or by primary key")] = "range"
    rows_per_query: Annotated[Count, COUNT, Field(description="rows of a range, or ids of a point query")] = 10
    ends: Annotated[
        Literal["rows", "clock"],
        Field(description="when the rows of the whole duration are in, as published, or when the duration is over"),
    ] = "rows"
    rate: Rate = None
    arrivals: Arrivals = None
    latency_limit: LatencyLimit = None
    data_length_min: Annotated[Count, COUNT, Field(le=4000, description="characters of `data`, at least")] = 10
    data_length_max: Annotated[Count, COUNT, Field(le=4000, description="characters of `data`, at most")] = 20
    partitions: Annotated[Count | None, COUNT, Field(description="partitions of a table, by ranges of its ids")] = None
    rows_per_partition: Annotated[
        Count | None, COUNT, Field(description="ids of a partition; without it, those of the load divided equally")
    ] = None
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE, as row_format=compressed")] = ""
    session: Annotated[
        tuple[Statement, ...], Field(description="SQL that each connection begins with, as set unique_checks = 0")
    ] = ()
    client: Annotated[str, Field(min_length=1, description="the build of sysbench that runs it, by its name")] = CLIENT

    @field_validator("tables")
    @classmethod
    def _has_clients(cls, value: int | None, info: ValidationInfo) -> int | None:
        clients = info.data.get("clients", 1)
        if value is not None and value > clients:
            message = "{tables} tables for {clients} clients: a client inserts into one table"
            raise PydanticCustomError("tables", message, {"tables": value, "clients": clients})
        return value

    @field_validator("rate")
    @classmethod
    def _goes_by_the_clock(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.data.get("insert_rate") and info.data.get("ends") == "rows":
            raise sentence_error("rate", "queries at a rate beside inserts end by the clock: `ends: clock`")
        return value

    @field_validator("data_length_max")
    @classmethod
    def _is_in_order(cls, value: int, info: ValidationInfo) -> int:
        least = info.data.get("data_length_min", 1)
        if value < least:
            message = "{most} is below `data_length_min`, which is {least}"
            raise PydanticCustomError("data_length", message, {"most": value, "least": least})
        return value
