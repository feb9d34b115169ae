"""Defaults that changed between releases of RocksDB, as db_bench applies them (its source at the release tags)."""

from __future__ import annotations

from dataclasses import dataclass

Release = tuple[int, ...]

FOLLOWS_LIBRARY: Release = (8, 7)  # db_bench takes the library's readahead from here on


@dataclass(frozen=True, slots=True)
class Change:
    option: str
    since: Release
    before: str
    after: str


CHANGES = (
    Change("compaction_readahead_size", FOLLOWS_LIBRARY, "0", "2 MiB"),
    Change("cache_type", (10, 9), "lru_cache", "hyper_clock_cache"),
)


def compaction_readahead(release: Release) -> int:
    """db_bench's default."""
    return 2 * 2**20 if release >= FOLLOWS_LIBRARY else 0
