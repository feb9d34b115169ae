"""What the settings of several kinds have in common: the types of numbers and names, and the server's part."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from stepgrid.language.fields import quantity
from stepgrid.plugins.quantity import Quantity

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
