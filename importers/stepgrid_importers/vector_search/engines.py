"""The engines that published summaries have a file for, and how the scripts find an engine's searches in a plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stepgrid_importers.vector_search.plot import Search

Group = Mapping[str, str]  # parameter -> value
FIXED = (4, 5, 6, 8, 12, 16, 24, 32, 48)  # m of the engine without ef_construction: another one is not listed


@dataclass(frozen=True, slots=True)
class Engine:
    name: str  # in a plot
    file: str  # qr.FILE
    index: tuple[str, ...] = ("ef_construction", "m")  # what indexes were made with; none: a fixed list of m
    searched: str = "ef_search"
    after: str = ")"  # what ends the number that the scripts look for: without it, 20 also finds 200
    only: Group = field(default_factory=dict)

    def has(self, search: Search) -> bool:
        return search.name == self.name and self.only.items() <= search.params.items()

    def numbers(self) -> tuple[str, ...]:
        """Parameters that each of its searches needs."""
        return (*sorted(self.index, reverse=True), self.searched) if self.index else ("m", self.searched)


_QDRANT = ("ef_construct", "m")

ENGINES = (
    Engine("PGVector", "pgvector"),
    Engine("PGVector_halfvec", "pgvector_halfvec"),
    Engine("MariaDB", "maria", ()),
    Engine("Qdrant", "qdrant.none", _QDRANT, "hnsw_ef", "", {"quantization": "none"}),
    Engine("Qdrant", "qdrant.scalar", _QDRANT, "hnsw_ef", "", {"quantization": "scalar"}),
)
SEARCHED = {engine.searched for engine in ENGINES}


def of(search: Search) -> Engine | None:
    return next((engine for engine in ENGINES if engine.has(search)), None)
