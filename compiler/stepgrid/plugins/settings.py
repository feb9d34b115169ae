"""Settings of a kind whose steps do one of several things.

What an action does not use is left out of its settings: a param that is meant for the searches must not make
the load another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from stepgrid.language.validation import quantity
from stepgrid.plugins.quantity import Quantity

# What the settings of several kinds have in common: the types of numbers and names, and the server's part.

Count: TypeAlias = Annotated[int, Field(ge=1, strict=True)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
WholeSeconds: TypeAlias = Annotated[float, Field(ge=1, multiple_of=1, strict=True)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$")]

COUNT, SIZE, DURATION = Quantity("count"), Quantity("size"), Quantity("duration")


# inside a map, where the language hands on the text
InnerCount: TypeAlias = Annotated[int, quantity("count"), Field(ge=1, strict=True)]


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ServerSettings(Settings):
    storage_engine: Annotated[
        Name | None, Field(description="the server's storage engine; without it, the engine's usual one")
    ] = None


@dataclass(frozen=True, slots=True)
class ActionFields:
    """What an action must be given, and what it may be."""

    required: frozenset[str]
    optional: frozenset[str]


def uses(required: str, optional: str = "") -> ActionFields:
    return ActionFields(frozenset(required.split()), frozenset(optional.split()))


class ActionSettings(ServerSettings):
    """The field ACTION comes first; with a value that ACTIONS lacks, everything is used."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    ACTION: ClassVar[str] = "action"
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = {}
    ALWAYS: ClassVar[frozenset[str]] = frozenset({"storage_engine"})

    @model_validator(mode="before")
    @classmethod
    def _without_what_is_not_used(cls, given: Any) -> Any:
        found = cls.ACTIONS.get(str(given.get(cls.ACTION))) if isinstance(given, dict) else None
        if found is None:
            return given
        used = found.required | found.optional | cls.ALWAYS | {cls.ACTION}
        return {name: value for name, value in given.items() if name in used or name not in cls.model_fields}

    @field_validator("*")
    @classmethod
    def _with_what_is_required(cls, value: Any, info: ValidationInfo) -> Any:
        action = info.data.get(cls.ACTION)
        found = cls.ACTIONS.get(str(action))
        if value is None and found is not None and info.field_name in found.required:
            context = {"action": str(action), "name": info.field_name}
            raise PydanticCustomError("missing_for_action", "`{action}` needs `{name}`", context)
        return value
