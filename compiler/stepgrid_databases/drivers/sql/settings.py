"""Settings of a step of kind sql."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo
from pydantic_core import PydanticCustomError

from stepgrid.language.validation import sentence_error
from stepgrid.model.units import as_number
from stepgrid.plugins.settings import (
    COUNT,
    DURATION,
    ActionFields,
    ActionSettings,
    Count,
    Late,
    Seconds,
    WholeSeconds,
    uses,
)
from stepgrid_databases.drivers.rate_settings import Arrivals, Rate

Statement = Annotated[str, StringConstraints(pattern=r"\S")]


def require_statement(statements: tuple[str, ...]) -> tuple[str, ...]:
    if not statements:
        raise PydanticCustomError("no_statement", "at least one statement is needed")
    return statements


MOST_STATEMENTS = 10_000_000  # of a step at a rate: more than its clients can send in hours


def check_count(duration: int | None, info: ValidationInfo) -> int | None:
    rate = as_number(info.data.get("rate"))
    if duration and rate is not None and rate * duration > MOST_STATEMENTS:
        message = f"{rate:,.0f} statements/s for {duration:,g} s are more than {MOST_STATEMENTS:,} statements"
        raise sentence_error("too_many_statements", message)
    return duration


class SqlSettings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = {
        "once": uses("sql", "timeout"),
        "run": uses("sql rate duration", "timeout clients arrivals"),
    }

    action: Annotated[
        Literal["once", "run"] | None,
        Late(),
        Field(description="each statement once, as where nothing is said, or all in turn at a rate, again and again"),
    ] = None
    sql: Annotated[
        tuple[Statement, ...],
        AfterValidator(require_statement),
        Field(description="statements, run in order on one connection, or in turn by all clients"),
    ]
    timeout: Annotated[
        Seconds, DURATION, Field(description="for all of them, beyond a `duration`; after it the step has failed")
    ] = 600.0
    rate: Rate = None
    arrivals: Arrivals = None
    duration: Annotated[
        WholeSeconds | None,
        AfterValidator(check_count),
        DURATION,
        Late(),
        Field(description="how long statements become due"),
    ] = None
    clients: Annotated[
        Count | None,
        COUNT,
        Late(),
        Field(description="connections, 1 or more; whoever is free takes the next statement"),
    ] = None

    @classmethod
    def used_by(cls, action: str) -> Collection[str]:
        return super().used_by(action if action in cls.ACTIONS else "once")
