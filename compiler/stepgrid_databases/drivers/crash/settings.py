"""Settings of a step of kind crash."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ValidationInfo

from stepgrid.plugins.settings import COUNT, DURATION, Count, Seconds, ServerSettings

ROW = "{id}"  # of a statement
Statement = Annotated[str, StringConstraints(pattern=r"\S")]


class CrashSettings(ServerSettings):
    how: Annotated[
        Literal["kill", "stop", "power"],
        Field(
            description="SIGKILL for all processes at once; an orderly end (db_bench: when its keys are there); or "
            "SIGKILL and a power cut, after which the disk has what was synced"
        ),
    ] = "kill"
    rate: Annotated[
        Count, COUNT, Field(description="transactions per second of all clients; of db_bench keys per second")
    ]
    before: Annotated[Seconds, DURATION, Field(description="of load before the end")]
    after: Annotated[Seconds, DURATION, Field(description="of load after the first answer")]
    threads: Annotated[Count, COUNT, Field(description="clients of a server; db_bench has one")] = 2
    rows: Annotated[Count | None, COUNT, Field(description="the largest {id} of a statement")] = None
    sql: Annotated[
        tuple[Statement, ...],
        Field(description="statements of each transaction, beside its own row; {id} is a random number up to `rows`"),
    ] = ()

    @field_validator("sql")
    @classmethod
    def _has_rows(cls, statements: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if any(ROW in statement for statement in statements) and info.data.get("rows") is None:
            raise PydanticCustomError("missing_rows", "a statement has {id}: give `rows`", {"id": ROW})
        return statements
