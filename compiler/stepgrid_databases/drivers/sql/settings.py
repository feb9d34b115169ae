"""Settings of a step of kind sql."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from stepgrid.plugins.settings import DURATION, Seconds, ServerSettings

Statement = Annotated[str, StringConstraints(pattern=r"\S")]


def require_statement(statements: tuple[str, ...]) -> tuple[str, ...]:
    if not statements:
        raise PydanticCustomError("no_statement", "at least one statement is needed")
    return statements


class SqlSettings(ServerSettings):
    sql: Annotated[
        tuple[Statement, ...],
        AfterValidator(require_statement),
        Field(description="statements, run in order on one connection"),
    ]
    timeout: Annotated[Seconds, DURATION, Field(description="for all of them; after it the step has failed")] = 600.0
