"""The types of a spec's values, and what every model of it has in common."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)
from pydantic_core import PydanticCustomError

from stepgrid.language.yaml import Map, Text
from stepgrid.model import units


def quantity(kind: str) -> BeforeValidator:
    """Read from its text, where there is one."""

    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return units.quantity(value, kind)
        except units.UnitError as error:
            raise PydanticCustomError("wrong_unit", "{why}", {"why": str(error)}) from None

    return BeforeValidator(read)


Label = Annotated[Text, InstanceOf()]  # text as it stands: names, versions, refs, expressions
Size = Annotated[int, quantity("size")]
Duration = Annotated[float, quantity("duration")]
Options = tuple[Any, ...]  # each a set's name, a map, or a set written in place


def _line(value: str) -> str:
    if "\n" in value.strip():
        raise PydanticCustomError("control_character", "{why}", {"why": "a name is one line"})
    return value


def _map_itself(value: object, plain: ValidatorFunctionWrapHandler) -> Any:
    return value if isinstance(value, Map) else plain(value)


Name = Annotated[Label, AfterValidator(_line)]
Title = Annotated[str, Field(min_length=1), AfterValidator(_line)]
Given = Annotated[dict[str, Any], WrapValidator(_map_itself)]  # the map as it was read: it knows where its keys stand
Count = Annotated[int, Field(ge=1, le=1000)]


class Model(BaseModel):
    # a model that stands inside another is built with it, not once more for itself: most commands need two of them all
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    @field_validator("*")
    @classmethod
    def _something(cls, value: Any) -> Any:
        """A key without a value is a slip; in a scale null removes, and never comes here."""
        if value is None:
            raise PydanticCustomError("nothing", "expected a value")
        return value


def _version(value: Text) -> Text:
    if not re.fullmatch(r"\w[\w.+~:-]*", value):
        raise PydanticCustomError("not_a_version", "a version is letters, digits and . + ~ : _ -")
    return value


Version = Annotated[Label, AfterValidator(_version)]
