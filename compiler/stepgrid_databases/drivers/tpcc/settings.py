"""Settings of a step of kind tpcc."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from stepgrid.language.validation import sentence_error
from stepgrid.plugins.settings import (
    COUNT,
    DURATION,
    ActionFields,
    ActionSettings,
    Count,
    Flag,
    Nested,
    Percent,
    WholeSeconds,
    check_mix,
    uses,
)
from stepgrid_databases.drivers.rate_settings import Arrivals, LatencyLimit, Rate
from stepgrid_databases.drivers.sysbench.lua_client import CLIENT
from stepgrid_databases.drivers.tpcc import CUSTOMERS, ITEMS

Transaction = Literal["new_order", "payment", "order_status", "delivery", "stock_level"]

MIX: Mapping[Transaction, float] = {
    "new_order": 45.0, "payment": 43.0, "order_status": 4.0, "delivery": 4.0, "stock_level": 4.0
}  # fmt: skip


class TpccSettings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = {
        "load": uses("warehouses", "loaders items customers table_options"),
        "run": uses("warehouses duration", "clients items customers mix think rate arrivals latency_limit"),
        "check": uses(""),
    }

    action: Annotated[
        Literal["load", "run", "check"], Field(description="load the tables, run transactions on them, or check them")
    ]
    warehouses: Annotated[
        Count | None, COUNT, Field(le=100_000, description="warehouses of the database: its scale")
    ] = None
    loaders: Annotated[Count, COUNT, Field(description="clients that load")] = 1
    clients: Annotated[
        Count, COUNT, Field(description="clients that run transactions, each for a warehouse, dealt out in turn")
    ] = 1
    items: Annotated[
        Count,
        COUNT,
        Field(ge=100, le=ITEMS, description="items, each in the stock of each warehouse; TPC-C has 100,000"),
    ] = ITEMS
    customers: Annotated[
        Count,
        COUNT,
        Field(ge=30, le=CUSTOMERS, description="customers of a district, and orders that are loaded; TPC-C has 3,000"),
    ] = CUSTOMERS
    duration: Annotated[WholeSeconds | None, DURATION, Field(description="how long transactions are run")] = None
    mix: Annotated[
        dict[Transaction, Percent],
        AfterValidator(check_mix),
        Nested(),
        Field(description="percent of the transactions; one that is left out is not run"),
    ] = Field(default_factory=lambda: dict(MIX))
    think: Annotated[
        Flag, Field(description="each client waits for keying before and for thinking after each transaction")
    ] = False
    rate: Rate = None
    arrivals: Arrivals = None
    latency_limit: LatencyLimit = None
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE, as row_format=compressed")] = ""
    client: Annotated[str, Field(min_length=1, description="the build of sysbench that runs it, by its name")] = CLIENT

    @field_validator("rate")
    @classmethod
    def _thinks_or_keeps_a_rate(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.data.get("think"):
            raise sentence_error("rate", "a client that waits to think keeps no rate: leave out `think`")
        return value
