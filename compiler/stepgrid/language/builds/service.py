"""What a build says of the server program that is started for each stage of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from stepgrid.language.fields import Duration, Given, Label, Model


def _one_form(found: Model, names: tuple[str, ...], least: int) -> None:
    """PydanticCustomError where it has several of these keys, or fewer than it needs."""
    given = [name for name in names if getattr(found, name) is not None]
    listed = f"{', '.join(f'`{name}`' for name in names[:-1])} or `{names[-1]}`"
    if len(given) > 1:
        why = f"it has both `{given[0]}` and `{given[1]}`: keep one"
        raise PydanticCustomError("not_both", "{why}", {"why": why})
    if len(given) < least:
        raise PydanticCustomError("one_of", "{why}", {"why": f"needs {listed}"})


class Readiness(Model):
    """When a service takes clients: it listens, or a command exits with status 0."""

    port: Label | None = None
    socket: Label | None = None
    command: Annotated[tuple[Any, ...], Field(min_length=1)] | None = None
    timeout: Duration | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Readiness:
        _one_form(self, ("port", "socket", "command"), 1)
        return self


class StopRequest(Model):
    """How a service is asked to end."""

    signal: Literal["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2"] | None = None
    command: Annotated[tuple[Any, ...], Field(min_length=1)] | None = None
    timeout: Duration | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> StopRequest:
        _one_form(self, ("signal", "command"), 0)
        return self


class Service(Model):
    """A server program that is started for each stage of a build."""

    argv: Annotated[tuple[Any, ...], Field(min_length=1)]
    option: Annotated[tuple[Label, ...], Field(min_length=1)] | None = None  # how one option is written
    env: Given = Field(default_factory=dict)
    ready: Readiness
    stop: StopRequest = Field(default_factory=StopRequest)
