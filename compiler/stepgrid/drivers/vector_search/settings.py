"""What a step of kind vector_search may say."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from stepgrid.drivers.vector_search.datasets.shape import DISTANCES, PUBLISHED, SUFFIXES
from stepgrid.plugins.settings import COUNT, ActionFields, ActionSettings, Count, Flag, InnerCount, Nested, uses
from stepgrid.plugins.settings import Settings as Model

_EXPECTED = (
    "a data set is named like fashion-mnist-784-euclidean, is a file that ends with .hdf5, or is "
    "{generated: {rows: …, dimensions: …}}"
)
MOST_NEIGHBOURS = 100  # the exact ones that are known of a query, as in published files

ACTIONS: Mapping[str, ActionFields] = MappingProxyType(
    {
        "load": uses("dataset", "element table_options"),
        "index": uses("dataset", "element method m ef_construction lists"),
        "search": uses("dataset", "exact ef_search probes k runs clients"),
    }
)
METHODS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"hnsw": frozenset({"m", "ef_construction"}), "ivfflat": frozenset({"lists"})}
)
NEEDED: Mapping[str, str] = MappingProxyType({"m": "hnsw", "lists": "ivfflat"})
OF_AN_INDEX = frozenset({"ef_search", "probes"})


class Shape(Model):
    rows: Annotated[InnerCount, Field(description="vectors that are indexed")]
    dimensions: Annotated[InnerCount, Field(le=16_000, description="numbers of a vector")]
    queries: Annotated[
        InnerCount | None, Field(description="vectors that are searched for; without it, a tenth of all vectors")
    ] = None
    distance: Annotated[Literal["euclidean", "angular"], Field(description="how near two vectors are")] = "euclidean"
    distribution: Annotated[
        Literal["clustered", "uniform"],
        Field(description="Gaussian around centres; or uniform, which no index finds its way in"),
    ] = "clustered"
    centres: Annotated[
        InnerCount | None, Field(description="centres of clusters; without it, one for each 100 vectors")
    ] = None
    seed: Annotated[InnerCount, Field(description="of the generator: the same seed gives the same vectors")] = 1


class GeneratedData(Model):
    generated: Annotated[Shape, Field(description="vectors from a generator, the same for the same seed")]


class Settings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = ACTIONS

    action: Annotated[Literal["load", "index", "search"], Field(description="load the vectors, index or search them")]
    dataset: Annotated[
        str | GeneratedData | None,
        Nested(),
        Field(description="a published data set by its name, an HDF5 file, or {generated: {rows: …, dimensions: …}}"),
    ] = None
    element: Annotated[
        Literal["vector", "halfvec"] | None,
        Field(description="numbers of 4 bytes (the usual), or of 2: of the table, or of the index alone"),
    ] = None
    method: Annotated[Literal["hnsw", "ivfflat"], Field(description="the kind of index; MariaDB has hnsw")] = "hnsw"
    m: Annotated[Count | None, COUNT, Field(description="neighbours that a node of an hnsw index keeps")] = None
    ef_construction: Annotated[
        Count | None, COUNT, Field(description="candidates that are looked at for a new node; MariaDB has none")
    ] = None
    lists: Annotated[Count | None, COUNT, Field(description="lists of an ivfflat index")] = None
    exact: Annotated[Flag, Field(description="search without an index: recall must be 1")] = False
    ef_search: Annotated[
        Count | None, COUNT, Field(description="candidates that a search looks at; without it, the engine's default")
    ] = None
    probes: Annotated[
        Count | None, COUNT, Field(description="lists of an ivfflat index that a search reads; without it, 1")
    ] = None
    k: Annotated[Count, COUNT, Field(le=MOST_NEIGHBOURS, description="neighbours asked for")] = 10
    runs: Annotated[Count, COUNT, Field(description="how often all queries are sent; qps is of the fastest run")] = 3
    clients: Annotated[Count, COUNT, Field(description="connections that search, a process for each")] = 1
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE")] = ""

    @model_validator(mode="before")
    @classmethod
    def _of_its_index(cls, given: Any) -> Any:
        """A param that is meant for another kind of index, or for a search with one, is not used."""
        if not isinstance(given, dict):
            return given
        others = {name for method, names in METHODS.items() if method != given.get("method", "hnsw") for name in names}
        unused = (
            others if given.get("action") == "index" else OF_AN_INDEX if given.get("exact") is True else frozenset()
        )
        return {name: value for name, value in given.items() if name not in unused}

    @field_validator("dataset")
    @classmethod
    def _named(cls, value: str | GeneratedData | None) -> str | GeneratedData | None:
        known = (*(f"-{name}" for name in DISTANCES), *SUFFIXES)
        if isinstance(value, str) and value not in PUBLISHED and not value.endswith(known):
            raise PydanticCustomError("dataset", _EXPECTED)
        return value

    @field_validator("m", "lists")
    @classmethod
    def _with_what_its_index_needs(cls, value: int | None, info: ValidationInfo) -> int | None:
        name, method = str(info.field_name), str(info.data.get("method"))
        if value is None and info.data.get("action") == "index" and NEEDED[name] == method:
            raise PydanticCustomError("missing_for_action", "an index by {method} needs `{name}`",
                                      {"method": method, "name": name})  # fmt: skip
        return value
