"""The engine's counters by its own names, and the compaction table level by level."""

from compiler.drivers.db_bench.parse import levels, statistics

TEXT = """\
rocksdb.block.cache.miss COUNT : 12
rocksdb.db.get.micros P50 : 1.5 P95 : 2.0 P99 : 3.0 P100 : 9.0 COUNT : 40 SUM : 77
rocksdb.block.cache.miss COUNT : 14
"""
TABLE = """\
** Compaction Stats [default] **
Level    Files   Size     Score Read(GB) WPreComp(GB) W-Amp Comp(sec) Comp(cnt) KeyIn
-------------------------------------------------------------------------------------
  L0      4/2   53.84 MB   1.3      0.5          1.2   1.0      2.50        40  1662K
 Sum      4/2   53.84 MB   0.0      0.5          1.2   1.0      2.50        40  1662K
 Int      0/0    0.00 KB   0.0      0.0          0.0   0.0      0.00         0       0
"""


def test_the_last_count_is_taken_and_histograms_have_count_and_sum():
    assert statistics.counters(TEXT) == {
        "rocksdb.block.cache.miss": 14.0,
        "rocksdb.db.get.micros.count": 40.0,
        "rocksdb.db.get.micros.sum": 77.0,
    }


def test_levels_by_the_names_of_their_columns():
    first, last = levels.levels(TABLE)
    assert (first["level"], last["level"]) == ("L0", "Sum")
    assert first == {
        "level": "L0",
        "files": 4.0,
        "compacting_files": 2.0,
        "bytes": 53.84 * 2**20,
        "score": 1.3,
        "read_bytes": 0.5 * 2**30,
        "write_uncompressed_bytes": 1.2 * 2**30,
        "write_amplification": 1.0,
        "seconds": 2.5,
        "compactions": 40.0,
        "keys_in": 1_662_000.0,
    }


def test_nothing_is_found_in_nothing():
    assert (statistics.counters(""), levels.levels("")) == ({}, [])
