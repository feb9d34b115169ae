"""What a server with vectors can be asked: a table, an index, and searches on connections of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.datasets.point_generator import Vectors

TABLE, COLUMN, INDEX = "items", "embedding", "items_embedding"


class SearchError(Exception):
    """Why a step cannot go on, as a sentence."""


class IndexPlan(NamedTuple):
    """What an index is made with; None of what its server's default is left to."""

    distance: str
    method: str = "hnsw"
    element: str | None = None  # that the index holds, where it is not that of the table
    m: int | None = None
    ef_construction: int | None = None
    lists: int | None = None


class SearchPlan(NamedTuple):
    """How vectors are searched for."""

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
    """One connection that searches."""

    def encode(self, queries: Vectors) -> list[bytes]:
        """What `search` sends."""
        ...

    def search(self, request: bytes) -> Any: ...

    def ids(self, reply: Any) -> Sequence[int]:
        """Of what `search` gave: asked when the clock stands still."""
        ...

    def explain(self, query: Vectors) -> tuple[str, bool]:
        """(The plan of a search as the server tells it, whether it uses the index)."""
        ...

    def close(self) -> None: ...


class VectorServer(Protocol):
    def create(self, dimensions: int, element: str, options: str) -> None:
        """The table, anew."""
        ...

    def insert(self, rows: Vectors) -> Iterator[int]:
        """How many rows there are so far, as they come to be there."""
        ...

    def index(self, plan: IndexPlan) -> Sequence[str]:
        """What the server says while it makes it."""
        ...

    def index_size(self) -> IndexSize: ...

    def table(self) -> TableFacts: ...

    def searcher(self, plan: SearchPlan) -> Searcher: ...

    def close(self) -> None: ...
