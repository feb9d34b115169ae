"""What a step of kind vector_search may say."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from stepgrid.plugins.quantity import Nested
from stepgrid.plugins.settings import COUNT, ActionFields, ActionSettings, Count, InnerCount, uses
from stepgrid.plugins.settings import Settings as Model

_EXPECTED = "a data set is named like fashion-mnist-784-euclidean, or is {generated: {rows: …, dimensions: …}}"
DISTANCES = ("euclidean", "angular")

ACTIONS: Mapping[str, ActionFields] = MappingProxyType(
    {
        "load": uses("dataset", "element table_options"),
        "index": uses("m", "ef_construction"),
        "search": uses("dataset", "ef_search k runs clients"),
    }
)


class Shape(Model):
    rows: Annotated[InnerCount, Field(description="vectors that are indexed")]
    dimensions: Annotated[InnerCount, Field(description="numbers of a vector")]
    queries: Annotated[InnerCount, Field(description="vectors that are searched for")] = 1000
    distance: Annotated[Literal["euclidean", "angular"], Field(description="how near two vectors are")] = "euclidean"


class GeneratedData(Model):
    generated: Annotated[Shape, Field(description="vectors from a generator, the same for the same seed")]


class Settings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = ACTIONS

    action: Annotated[Literal["load", "index", "search"], Field(description="load the vectors, index or search them")]
    dataset: Annotated[
        str | GeneratedData | None,
        Nested(),
        Field(description="a published data set by its name, or {generated: {rows: …, dimensions: …}}"),
    ] = None
    element: Annotated[Literal["vector", "halfvec"], Field(description="numbers of 4 bytes, or of 2")] = "vector"
    m: Annotated[Count | None, COUNT, Field(description="neighbours that a node of the index keeps")] = None
    ef_construction: Annotated[
        Count | None, COUNT, Field(description="candidates that are looked at for a new node; MariaDB has none")
    ] = None
    ef_search: Annotated[
        Count | None, COUNT, Field(description="candidates that a search looks at; without it, the engine's default")
    ] = None
    k: Annotated[Count, COUNT, Field(description="neighbours asked for")] = 10
    runs: Annotated[Count, COUNT, Field(description="how often all queries are sent; the fastest counts")] = 3
    clients: Annotated[Count, COUNT, Field(description="connections that search")] = 1
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE")] = ""

    @field_validator("dataset")
    @classmethod
    def _named(cls, value: str | GeneratedData | None) -> str | GeneratedData | None:
        if isinstance(value, str) and not value.endswith(tuple(f"-{name}" for name in DISTANCES)):
            raise PydanticCustomError("dataset", _EXPECTED)
        return value
