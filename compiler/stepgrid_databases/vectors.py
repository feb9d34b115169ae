"""Servers with vectors: what the kind vector_search asks of an engine that has a table of them, an index and searches.

A search makes all its requests by `encode` before it sends the first, and reads the ids of replies when no query is
timed. Vectors are arrays of float32, a row for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

EUCLIDEAN, ANGULAR = "euclidean", "angular"  # distances
VECTOR, HALFVEC = "vector", "halfvec"  # elements of 4 bytes, and of 2
TABLE, COLUMN, INDEX = "items", "embedding", "items_embedding"


class VectorError(Exception):
    """A step that cannot go on, with the reason as a sentence."""


class IndexPlan(NamedTuple):
    """Options of an index; None leaves an option to the server's default."""

    distance: str
    method: str = "hnsw"
    element: str | None = None  # that the index holds, where it is not that of the table
    m: int | None = None
    ef_construction: int | None = None
    lists: int | None = None


class SearchPlan(NamedTuple):
    """Options of a search."""

    distance: str
    k: int
    exact: bool = False
    ef_search: int | None = None
    probes: int | None = None


class IndexSize(NamedTuple):
    bytes: float | None
    settings: Mapping[str, str]  # of the server: those that decide how an index is made


class TableFacts(NamedTuple):
    rows: int
    dimensions: int


class Searcher(Protocol):
    """A connection that searches."""

    def encode(self, queries: Any) -> list[bytes]: ...

    def search(self, request: bytes) -> Any: ...

    def ids(self, reply: Any) -> list[int]: ...

    def explain(self, query: Any) -> tuple[str, bool]:
        """Return the plan of a search, and whether it uses the index."""
        ...

    def close(self) -> None: ...


class VectorServer(Protocol):
    """A connection to a server with vectors; VectorError says what it refuses."""

    def create(self, dimensions: int, element: str, options: str) -> None: ...

    def insert(self, rows: Any) -> Iterator[int]:
        """Yield how many rows are inserted so far."""
        ...

    def index(self, plan: IndexPlan) -> Sequence[str]:
        """Return what the server said meanwhile."""
        ...

    def index_size(self) -> IndexSize: ...

    def table(self) -> TableFacts: ...

    def searcher(self, plan: SearchPlan) -> Searcher: ...

    def close(self) -> None: ...


@runtime_checkable
class VectorEngine(Protocol):
    """A server engine with vectors."""

    vector_server: str  # MODULE:CLASS of a `VectorServer`, which is made of an `Access`
