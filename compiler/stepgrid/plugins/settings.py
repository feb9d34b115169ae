"""Settings of steps: types that several kinds share, and the base of kinds whose steps do one of several actions."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from stepgrid.language.validation import quantity


class Quantity(NamedTuple):
    """Quantity of a settings field: how the language reads its text (100M, 2MiB, 30m).

    A count is an int, a size int bytes, a rate int bytes/s; a duration is float seconds.
    """

    kind: Literal["count", "size", "rate", "duration", "percent"]


class Nested(Struct, frozen=True):
    """Mark a settings field whose value may be a map: its leaves are values, the map itself is no `{when:, value:}`."""


class Late(Struct, frozen=True):
    """Mark a settings field that came late: a plan has it where it is set, and older plans keep their ids."""


Count: TypeAlias = Annotated[int, Field(ge=1, strict=True)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
WholeSeconds: TypeAlias = Annotated[float, Field(ge=1, multiple_of=1, strict=True)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
Percent: TypeAlias = Annotated[float, Field(ge=0, le=100)]
Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$")]

COUNT, SIZE, DURATION = Quantity("count"), Quantity("size"), Quantity("duration")


# inside a map, where the language hands on the text
InnerCount: TypeAlias = Annotated[int, quantity("count"), Field(ge=1, strict=True)]


ROUNDING = 0.01  # published mixes of operations have up to 7 decimals


def check_mix(mix: dict[Any, float]) -> dict[Any, float]:
    total = math.fsum(mix.values())
    if abs(total - 100) > ROUNDING:
        raise PydanticCustomError("mix", "the mix sums to {total}, not to 100", {"total": f"{total:.7g}"})
    return mix


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ServerSettings(Settings):
    storage_engine: Annotated[
        Name | None, Field(description="the server's storage engine; without it, the engine's usual one")
    ] = None


class ActionFields(Struct, frozen=True):
    """Settings that an action requires, and those that it may have."""

    required: frozenset[str]
    optional: frozenset[str]


def uses(required: str, optional: str = "") -> ActionFields:
    return ActionFields(frozenset(required.split()), frozenset(optional.split()))


class ActionSettings(ServerSettings):
    """Settings of which each action uses some: the field ACTION comes first.

    What an action does not use is left out: a param for the searches must not make the load another one. With an
    action that ACTIONS lacks, everything is used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    ACTION: ClassVar[str] = "action"
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = {}
    ALWAYS: ClassVar[frozenset[str]] = frozenset({"storage_engine", "client"})

    @classmethod
    def used_by(cls, action: str) -> Collection[str]:
        fields = cls.ACTIONS.get(action)
        return cls.model_fields if fields is None else fields.required | fields.optional | cls.ALWAYS | {cls.ACTION}

    @model_validator(mode="before")
    @classmethod
    def _remove_unused(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        used = cls.used_by(str(values.get(cls.ACTION, cls.model_fields[cls.ACTION].default)))
        return {name: value for name, value in values.items() if name in used or name not in cls.model_fields}

    @field_validator("*")
    @classmethod
    def _require(cls, value: Any, info: ValidationInfo) -> Any:
        action = info.data.get(cls.ACTION)
        fields = cls.ACTIONS.get(str(action))
        if value is None and fields is not None and info.field_name in fields.required:
            context = {"action": str(action), "name": info.field_name}
            raise PydanticCustomError("missing_for_action", "`{action}` needs `{name}`", context)
        return value
