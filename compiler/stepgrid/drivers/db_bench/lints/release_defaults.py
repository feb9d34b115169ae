"""Defaults that changed between releases of RocksDB, as db_bench applies them (its source at the release tags)."""

from __future__ import annotations

from dataclasses import dataclass

Release = tuple[int, ...]

FOLLOWS_LIBRARY: Release = (8, 7)  # db_bench takes the library's readahead from here on
_HYPER_CLOCK: Release = (10, 9)


@dataclass(frozen=True, slots=True)
class Change:
    option: str
    since: Release
    before: str
    after: str


# db_bench's own. Where it follows the library, the change of a default is what a release is measured for.
CHANGES = (
    Change("max_bytes_for_level_base", (5, 3), "10 MiB", "256 MiB"),
    Change("target_file_size_base", (5, 3), "2 MiB", "64 MiB"),
    Change("allow_concurrent_memtable_write", (5, 7), "false", "true"),
    Change("verify_checksum", (5, 7), "false", "true"),
    Change("cache_numshardbits", (7, 7), "6", "-1"),
    Change("cache_size", (8, 2), "8 MiB", "32 MiB"),
    Change("compaction_readahead_size", FOLLOWS_LIBRARY, "0", "2 MiB"),
    Change("cache_type", _HYPER_CLOCK, "lru_cache", "hyper_clock_cache"),
)


def compaction_readahead(release: Release) -> int:
    """db_bench's default."""
    return 2 * 2**20 if release >= FOLLOWS_LIBRARY else 0


def cache_type(release: Release) -> str:
    """db_bench's default; before 7.4 the only one that there is."""
    return "hyper_clock_cache" if release >= _HYPER_CLOCK else "lru_cache"
