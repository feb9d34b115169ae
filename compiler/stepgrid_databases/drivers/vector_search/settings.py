"""Settings of a step of kind vector_search, and lints of searches whose figures mean little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from stepgrid.lint.rule import Facts, Rule, Verdict, each_step
from stepgrid.model.units import size
from stepgrid.plugins.settings import (
    COUNT,
    ActionFields,
    ActionSettings,
    Count,
    Flag,
    InnerCount,
    Late,
    Nested,
    Settings,
    uses,
)
from stepgrid_databases.drivers.rate_settings import Arrivals
from stepgrid_databases.drivers.vector_search.datasets import DISTANCES, MOST_NEIGHBOURS, PUBLISHED, SUFFIXES, UNIFORM

_EXPECTED = (
    "a data set is named like fashion-mnist-784-euclidean, is a file that ends with .hdf5, or is "
    "{generated: {rows: …, dimensions: …}}"
)

METHODS: Mapping[str, frozenset[str]] = {"hnsw": frozenset({"m", "ef_construction"}), "ivfflat": frozenset({"lists"})}
NEEDED: Mapping[str, str] = {"m": "hnsw", "lists": "ivfflat"}
OF_AN_INDEX = frozenset({"ef_search", "probes"})


class GeneratedShape(Settings):
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


class GeneratedData(Settings):
    generated: Annotated[GeneratedShape, Field(description="vectors from a generator, the same for the same seed")]


class VectorSearchSettings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = {
        "load": uses("dataset", "element table_options"),
        "index": uses("dataset", "element method m ef_construction lists"),
        "search": uses("dataset", "exact ef_search probes k runs clients rate arrivals"),
    }

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
    rate: Annotated[
        Count | None,
        COUNT,
        Late(),
        Field(description="queries per second of all clients; latency counts from when one should have begun"),
    ] = None
    arrivals: Arrivals = None
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE")] = ""

    @model_validator(mode="before")
    @classmethod
    def _without_other_indexes(cls, values: Any) -> Any:
        """Leave out params that are meant for another kind of index, or for a search with one."""
        if not isinstance(values, dict):
            return values
        unused: set[str] = set()
        if values.get("action") == "index":
            used = METHODS.get(str(values.get("method", "hnsw")), frozenset())
            unused = {name for names in METHODS.values() for name in names if names != used}
        elif values.get("exact") is True:
            unused = set(OF_AN_INDEX)
        return {name: value for name, value in values.items() if name not in unused}

    @field_validator("dataset")
    @classmethod
    def _named(cls, value: str | GeneratedData | None) -> str | GeneratedData | None:
        endings = (*(f"-{name}" for name in DISTANCES), *SUFFIXES)
        if isinstance(value, str) and value not in PUBLISHED and not value.endswith(endings):
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


# Lints: an index that its cache does not hold, too few candidates, uniform vectors.

CACHE, CACHE_DEFAULT = "mhnsw_max_cache_size", 16 * 2**20  # of MariaDB
BYTES_OF_A_NUMBER = 2  # that MariaDB's index keeps in its cache; neighbours come on top
DEFAULTS = {"mariadb": 20, "postgres": 40}  # of ef_search
KIND = "vector_search"


def _small_cache(facts: Facts) -> Verdict | None:
    rows, dimensions = facts["vectors"], facts["vector_dimensions"]
    if facts["vector_engine"] != "mariadb" or facts["step.action"] == "load" or facts.is_on("step.exact"):
        return None
    cache, index = facts.amount(CACHE, CACHE_DEFAULT), rows * dimensions * BYTES_OF_A_NUMBER
    if cache >= index:
        return None
    message = f"`{CACHE}` is {size(cache)}, an index of {rows:,} vectors of {dimensions} dimensions takes {size(index)}"
    key, needed = CACHE if facts.has(CACHE) else "step", 1 << int(2 * index - 1).bit_length()  # a power of two
    return Verdict(key, f"{message} and more", f"`{CACHE}: {size(needed).replace(' ', '')}`")


def _few_candidates(facts: Facts) -> Verdict | None:
    if facts["step.action"] != "search" or facts.is_on("step.exact"):
        return None
    default = DEFAULTS.get(str(facts["vector_engine"]))
    neighbours, candidates = facts.number("step.k"), facts.number("step.ef_search", default)
    if neighbours is None or candidates is None or candidates >= neighbours:
        return None
    origin = "" if facts.has("step.ef_search") else ", the engine's default"
    message = (
        f"`ef_search` is {candidates:g}{origin}: a search that looks at fewer candidates than `k` has no "
        f"{neighbours:g} answers"
    )
    key = "step.ef_search" if facts.has("step.ef_search") else "step.k"
    return Verdict(key, message, f"`ef_search: {neighbours:g}` or more")


def _uniform(facts: Facts) -> Verdict | None:
    if facts["vector_distribution"] != UNIFORM:
        return None
    message = "uniform vectors are nearly equally far from each other: recall collapses as with no real data"
    return Verdict("step.dataset", message, "leave `distribution` out: vectors around centres")


RULES = (
    Rule("vector-cache-small", "a cache that does not hold the vector index",
         each_step(("vector_engine", "step.action", "step.exact", CACHE), _small_cache,
                   ("vectors", "vector_dimensions"))),
    Rule("ef-search-below-k", "fewer candidates than neighbours that are asked for",
         each_step(("vector_engine", "step.action", "step.exact", "step.ef_search"), _few_candidates, ("step.k",))),
    Rule("vectors-uniform", "vectors that are drawn uniformly",
         each_step((), _uniform, ("vector_distribution",))),
)  # fmt: skip
