"""Settings of a step of kind pgbench, by the names of pgbench's own options where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from stepgrid.language.problems import nearest
from stepgrid.plugins.settings import (
    COUNT,
    DURATION,
    ActionFields,
    ActionSettings,
    Count,
    Flag,
    InnerCount,
    Nested,
    Quantity,
    Seconds,
    Settings,
    WholeSeconds,
    uses,
)
from stepgrid_databases.drivers.pgbench import BUILTIN, CLIENT, short_name

Protocol = Literal["simple", "extended", "prepared"]
PERCENT = Quantity("percent")
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Script(Settings):
    weight: Annotated[InnerCount, Field(description="how often it runs, beside the weights of the others")] = 1
    sql: Annotated[str | None, Field(pattern=r"\S", description="its text, if it is no file and not built in")] = None


def _write_out(scripts: Any) -> Any:
    """Turn `NAME` and `NAME: WEIGHT` into the long form."""
    if isinstance(scripts, str):
        return {scripts: {}}
    if not isinstance(scripts, Mapping):
        return scripts
    return {name: item if isinstance(item, Mapping | Script) else {"weight": item} for name, item in scripts.items()}


def _check_scripts(scripts: dict[str, Script] | None) -> dict[str, Script] | None:
    names: dict[str, str] = {}
    for name, script in (scripts or {}).items():
        if script.sql is None and name not in BUILTIN and PurePath(name).suffix != ".sql":
            if " " in name.strip():
                raise PydanticCustomError("sql_text", "a text needs a name: write `scripts: {NAME: {sql: …}}`")
            message = (
                "there is no script `{name}` ({hint}; a file of your own ends in .sql, a text is `NAME: {sql: …}`)"
            )
            hint = nearest(name, BUILTIN).rstrip("?")
            raise PydanticCustomError("unknown_script", message, {"name": name, "hint": hint})
        other = names.setdefault(short_name(name), name)
        if other != name:
            message = "`{name}` and `{other}` would be one name in the figures: call one otherwise"
            raise PydanticCustomError("script_name", message, {"name": name, "other": other})
    if scripts == {}:
        raise PydanticCustomError("no_script", "at least one script is needed")
    return scripts


class PgbenchSettings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = {
        "init": uses("scale", "init_steps fillfactor foreign_keys partitions partition_method unlogged_tables"),
        "run": uses(
            "scripts",
            "scale variables clients jobs duration transactions rate protocol latency_limit max_tries "
            "report_per_command log",
        ),
    }

    action: Annotated[Literal["init", "run"], Field(description="make pgbench's tables, or run scripts")] = "run"
    scripts: Annotated[
        dict[str, Script] | None,
        BeforeValidator(_write_out),
        AfterValidator(_check_scripts),
        Nested(),
        Field(
            description="tpcb-like, simple-update, select-only, FILE.sql or NAME: {sql: TEXT}; several to their weights"
        ),
    ] = None
    scale: Annotated[Count | None, COUNT, Field(description="100,000 accounts each; `:scale` in SQL of your own")] = (
        None
    )
    init_steps: Annotated[
        str | None,
        Field(pattern="^[dtgGvpf]+$", description="the steps that make the tables, as pgbench has them: dtgvp"),
    ] = None
    fillfactor: Annotated[Count, COUNT, Field(ge=10, le=100, description="percent of a page that is filled")] = 100
    foreign_keys: Annotated[Flag, Field(description="with foreign keys between the tables")] = False
    partitions: Annotated[Count | None, COUNT, Field(description="parts of the table of accounts")] = None
    partition_method: Annotated[Literal["range", "hash"], Field(description="how its parts are made")] = "range"
    unlogged_tables: Annotated[Flag, Field(description="tables without a write-ahead log")] = False
    variables: Annotated[
        dict[Variable, int | float | str], Nested(), Field(description="`:NAME` in SQL of your own, and its value")
    ] = Field(default_factory=dict)
    clients: Annotated[Count, COUNT, Field(description="connections, each with a transaction at a time")] = 1
    jobs: Annotated[Count | None, COUNT, Field(description="threads of pgbench; without it, one for each client")] = (
        None
    )
    transactions: Annotated[Count | None, COUNT, Field(description="of each client, where there is no duration")] = None
    duration: Annotated[WholeSeconds | None, DURATION, Field(description="how long it runs")] = None
    rate: Annotated[
        Count | None,
        COUNT,
        Field(description="transactions per second of all clients; latency counts from when one should have begun"),
    ] = None
    protocol: Annotated[Protocol, Field(description="how statements are sent")] = "simple"
    latency_limit: Annotated[
        Seconds | None, DURATION, Field(description="slower transactions are counted; with a rate, late ones skipped")
    ] = None
    max_tries: Annotated[Count, COUNT, Field(description="tries of a transaction that cannot be serialized")] = 1
    report_per_command: Annotated[Flag, Field(description="the mean latency of each statement")] = False
    log: Annotated[
        float | None, PERCENT, Field(ge=0, le=100, description="share of the transactions that percentiles are of")
    ] = None
    client: Annotated[str, Field(min_length=1, description="the build of PostgreSQL with the pgbench that runs")] = (
        CLIENT
    )

    @field_validator("duration")
    @classmethod
    def _ends(cls, value: float | None, info: ValidationInfo) -> float | None:
        if info.data.get("action") == "run" and (value is None) == (info.data.get("transactions") is None):
            raise PydanticCustomError("endless", "a run needs either `duration` or `transactions`")
        return value
