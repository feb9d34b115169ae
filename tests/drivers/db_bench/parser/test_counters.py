"""The engine's counters by its own names, and the compaction table level by level."""

from stepgrid.drivers.db_bench.parser import statistics
from stepgrid.drivers.db_bench.parser.dump import compaction, levels

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
        "rocksdb.db.get.micros.p50": 1.5,
        "rocksdb.db.get.micros.p95": 2.0,
        "rocksdb.db.get.micros.p99": 3.0,
        "rocksdb.db.get.micros.max": 9.0,
    }


def test_a_histogram_without_samples_has_no_percentiles():
    text = "rocksdb.sst.read.micros P50 : 0.0 P95 : 0.0 P99 : 0.0 P100 : 0.0 COUNT : 0 SUM : 0\n"
    assert statistics.counters(text) == {"rocksdb.sst.read.micros.count": 0.0, "rocksdb.sst.read.micros.sum": 0.0}


def test_a_histogram_of_an_old_release_has_other_percentiles():
    """Up to 5.12 neither the highest nor a count."""
    text = "rocksdb.db.get.micros P50 : 1.5 P95 : 2.0 P99 : 3.0 COUNT : 4 SUM : 7\n"
    assert statistics.counters(text)["rocksdb.db.get.micros.p99"] == 3.0
    assert statistics.counters("rocksdb.db.get.micros statistics Percentiles :=> 50 : 1.5 95 : 2.0\n") == {}


def test_levels_by_the_names_of_their_columns():
    found = levels.levels(TABLE)
    assert [each["level"] for each in found] == ["L0", "Sum", "Int"]
    assert found[0] == {
        "family": "default",
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


def test_what_is_new_in_a_level_may_be_less_than_nothing():
    text = "** Compaction Stats [default] **\nLevel Files Size Wnew(GB)\n---\n L6 1/0 1.00 GB -0.3\n"
    assert levels.levels(text)[0]["write_new_bytes"] == -0.3 * 2**30


def test_families_and_priorities_are_told_apart_and_the_last_table_of_each_counts():
    """Figures of the step are those of the default family, wherever its table stands."""

    def table(family, group, name, seconds):
        return f"** Compaction Stats [{family}] **\n{group} Files Size Comp(sec)\n---\n{name} 1/0 1.00 GB {seconds}\n\n"

    text = "".join(
        table(*each)
        for each in (
            ("default", "Level", "Sum", 1.0),
            ("default", "Level", "Sum", 2.0),
            ("default", "Priority", "Low", 3.0),
            ("a name", "Level", "Sum", 4.0),
            ("a name", "Priority", "High", 5.0),
        )
    )
    found = [(each["family"], each.get("level"), each.get("priority"), each["seconds"]) for each in levels.levels(text)]
    assert found == [
        ("default", "Sum", None, 2.0),
        ("a name", "Sum", None, 4.0),
        ("default", None, "Low", 3.0),
        ("a name", None, "High", 5.0),
    ]
    assert compaction.figures(text)["compaction_seconds"] == 2.0


def test_sizes_before_5_1_are_in_the_unit_of_their_head():
    text = "** Compaction Stats [default] **\nLevel Files Size(MB) Score Comp(sec)\n---\n Sum 3/0 96.50 0.0 7\n\n"
    assert compaction.figures(text) == {"lsm_bytes": 96.5 * 2**20, "lsm_files": 3.0, "compaction_seconds": 7.0}
    assert levels.levels(text)[0]["bytes"] == 96.5 * 2**20


def test_nothing_is_found_in_nothing():
    assert (statistics.counters(""), levels.levels("")) == ({}, [])
