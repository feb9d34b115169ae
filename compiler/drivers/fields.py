"""What the settings of several kinds have in common: the types of numbers and names, and the server's part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from compiler.drivers.quantity import Quantity
from compiler.language import units

Count: TypeAlias = Annotated[int, Field(ge=1, strict=True)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
WholeSeconds: TypeAlias = Annotated[float, Field(ge=1, multiple_of=1, strict=True)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$")]

COUNT, SIZE, DURATION = Quantity("count"), Quantity("size"), Quantity("duration")


def _reader(kind: Literal["count", "duration"]) -> Callable[[object], object]:
    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return units.quantity(value, kind)
        except units.UnitError as error:
            raise PydanticCustomError("wrong_unit", "{why}", {"why": str(error)}) from None

    return read


# inside a map, where the language hands on the text
InnerCount: TypeAlias = Annotated[int, BeforeValidator(_reader("count")), Field(ge=1, strict=True)]


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ServerSettings(Settings):
    storage_engine: Annotated[
        Name | None, Field(description="the server's storage engine; without it, the engine's usual one")
    ] = None
