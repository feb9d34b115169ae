"""Memory that the engine says it holds."""

from stepgrid.drivers.db_bench.parser.dump import memory

MEMTABLES = """rocksdb.num-immutable-mem-table: 1
rocksdb.size-all-mem-tables: 9106648
rocksdb.num-entries-active-mem-table: 5609
"""
CACHE = "Block cache LRUCache@0x5606#11 capacity: 32.00 MB seed: 17 usage: 92.16 KB table_size: 8192 occupancy: 7218\n"
BEFORE = "Block cache LRUCache@0x55#1 capacity: 1.50 GB collections: 1 last_copies: 0 last_secs: 0.1 secs_since: 0\n"


def test_memtables() -> None:
    assert memory.figures(MEMTABLES) == {"memtable_bytes": 9106648}
    assert memory.counters(MEMTABLES)["rocksdb.num-immutable-mem-table"] == 1


def test_the_last_look_counts() -> None:
    later = "\n\nrocksdb.size-all-mem-tables: 5\n\n"
    assert memory.figures(MEMTABLES + later) == {"memtable_bytes": 5}


def test_the_block_cache() -> None:
    """Up to 7.6 what it holds is not said; 8.1 does not end the line before."""
    used = {"block_cache_capacity_bytes": 32 * 2**20, "block_cache_bytes": 92.16 * 2**10}
    assert memory.figures(BEFORE) == {"block_cache_capacity_bytes": 1.5 * 2**30}
    assert memory.figures(BEFORE + CACHE) == used
    assert memory.figures(f"Write Stall (count): total-stops: 0, {CACHE}") == used


def test_nothing_is_found_in_nothing() -> None:
    assert memory.figures("Block cache entry stats(count,size,portion): Misc(1,0.00 KB,0%)\n") == {}
