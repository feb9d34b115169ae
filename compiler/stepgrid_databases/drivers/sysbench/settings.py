"""Settings of a step of kind sysbench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from stepgrid.language.problems import nearest
from stepgrid.plugins.settings import (
    COUNT,
    DURATION,
    ActionFields,
    ActionSettings,
    Count,
    Flag,
    Nested,
    WholeSeconds,
    uses,
)
from stepgrid_databases.drivers.sysbench.lua_client import CLIENT, MOST
from stepgrid_databases.drivers.sysbench.workload import is_own, is_taken

_RUN = "threads tables duration events rate prepared distribution primary_key"
_RANGES = (
    "random_points", "hot_points", "read_only", "read_only_simple", "read_only_sum", "read_only_order",
    "read_only_distinct", "read_only_count", "read_write", "write_only",
)  # fmt: skip

WORKLOADS: Mapping[str, ActionFields] = {
    "load": uses("rows", "threads tables table_options primary_key"),
    **{
        name: uses("rows", _RUN)
        for name in ("point_query", "update_inlist", "update_index", "update_nonindex", "scan", "delete", "insert")
    },
    **{name: uses("rows", f"{_RUN} range") for name in _RANGES},
    **{name: uses("rows", f"{_RUN} range covered index") for name in ("points", "range")},
}


# sysbench's own names; its ids are `special` where nothing is said
CLASSIC: Mapping[str, str] = {
    "oltp_delete": "delete",
    "oltp_insert": "insert",
    "oltp_point_select": "point_query",
    "oltp_read_only": "read_only",
    "oltp_read_write": "read_write",
    "oltp_update_index": "update_index",
    "oltp_update_non_index": "update_nonindex",
    "oltp_write_only": "write_only",
}
Limited = Annotated[Count, Field(le=MOST)]
Argument = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]


def _check_workload(name: str) -> str:
    if is_taken(name):
        message = "a file that comes with the workloads has this name: call it otherwise"
        raise PydanticCustomError("taken", message)
    if name in WORKLOADS or is_own(name):
        return name
    message = "there is no such workload ({hint}; a file of your own ends in .lua)"
    raise PydanticCustomError("unknown_workload", message, {"hint": nearest(name, (*WORKLOADS, *CLASSIC)).rstrip("?")})


class SysbenchSettings(ActionSettings):
    ACTION: ClassVar[str] = "lua"
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = WORKLOADS

    lua: Annotated[str, AfterValidator(_check_workload), Field(description="the workload, or a Lua file of your own")]
    threads: Annotated[Count, COUNT, Field(description="client threads")] = 1
    tables: Annotated[Count, COUNT, Field(description="tables; each event uses one of them")] = 1
    rows: Annotated[Limited, COUNT, Field(description="rows of each table that are loaded, and asked for")]
    events: Annotated[Limited | None, COUNT, Field(description="how many events, where there is no duration")] = None
    duration: Annotated[WholeSeconds | None, DURATION, Field(description="how long it runs")] = None
    rate: Annotated[
        Limited | None,
        COUNT,
        Field(description="transactions per second of all clients; latency counts from when one should have begun"),
    ] = None
    range: Annotated[Count, COUNT, Field(description="rows of a range, or points of a list")] = 100
    distribution: Annotated[
        Literal["uniform", "zipfian", "gaussian", "pareto", "special"], Field(description="of the keys asked for")
    ] = "uniform"
    covered: Annotated[Flag, Field(description="the index alone answers the query")] = True
    index: Annotated[Literal["pk", "si"], Field(description="by the primary key, or by the secondary index")] = "pk"
    prepared: Annotated[Flag, Field(description="prepared statements")] = True
    primary_key: Annotated[Flag, Field(description="`id` is the primary key; false: a secondary one")] = True
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE, as row_format=compressed")] = ""
    arguments: Annotated[
        dict[Argument, bool | int | float | str],
        Nested(),
        Field(description="of a Lua file of your own: its options by name, declared there or not"),
    ] = Field(default_factory=dict)
    client: Annotated[str, Field(min_length=1, description="the build of sysbench that runs it, by its name")] = CLIENT

    @model_validator(mode="before")
    @classmethod
    def _rename_classic(cls, values: Any) -> Any:
        if not isinstance(values, dict) or (workload := CLASSIC.get(str(values.get("lua")))) is None:
            return values
        return {"distribution": "special", **values, "lua": workload}

    @field_validator("duration")
    @classmethod
    def _ends(cls, value: float | None, info: ValidationInfo) -> float | None:
        workload = info.data.get("lua", "load")
        if value is None and workload != "load" and info.data.get("events") is None:
            raise PydanticCustomError("endless", "`{workload}` needs `duration`, or `events`", {"workload": workload})
        return value
