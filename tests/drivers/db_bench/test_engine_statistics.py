"""RocksDB's statistics: no figure is ever another column's, and the last dump counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid_databases.drivers.db_bench.engine_statistics import (
    compaction_figures,
    compaction_levels,
    file_reads,
    memory_figures,
    memory_properties,
    read_count,
    read_size,
    stall_figures,
    statistics_counters,
    total_figures,
)

WIDTHS = {
    "Score": 5, "Read(GB)": 8, "Rn(GB)": 7, "Rnp1(GB)": 8, "Write(GB)": 9, "WPreComp(GB)": 9, "Wnew(GB)": 8,
    "Moved(GB)": 9, "W-Amp": 5, "Rd(MB/s)": 8, "Wr(MB/s)": 8, "Comp(sec)": 9, "CompMergeCPU(sec)": 17, "Comp(cnt)": 9,
    "Avg(sec)": 8, "KeyIn": 7, "KeyDrop": 6, "Rblob(GB)": 9, "Wblob(GB)": 9, "Patched(sec)": 6, "Other(GB)": 1,
}  # fmt: skip
FIGURES = {
    "compaction_seconds": "Comp(sec)",
    "compaction_cpu_seconds": "CompMergeCPU(sec)",
    "compactions": "Comp(cnt)",
    "compaction_keys_in": "KeyIn",
    "compaction_keys_dropped": "KeyDrop",
    "blob_read_bytes": "Rblob(GB)",
    "blob_write_bytes": "Wblob(GB)",
}
WHOLE = {"Comp(cnt)", "KeyIn", "KeyDrop"}
SUFFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def _cell(column: str, number: int) -> str:
    return str(number) if column in WHOLE else f"{number / 100:.2f}"


def _row(name: str, files: str, size: str, columns: list[str], cells: list[str]) -> str:
    padded = (cell.rjust(WIDTHS[column]) for column, cell in zip(columns, cells, strict=True))
    return f"{name:>4} {files:>10} {size:>10} {' '.join(padded)}"


def _table(columns: list[str], rows: list[str], group: str = "Level") -> str:
    head = f"{group}    Files   Size     {' '.join(columns)}"
    return "\n".join(["** Compaction Stats [default] **", head, "-" * len(head), *rows, "", "Uptime(secs): 1.0 total"])


@st.composite
def _tables(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    columns = draw(st.lists(st.sampled_from(list(WIDTHS)), unique=True, min_size=1))
    sums = {column: draw(st.integers(0, 10**9)) for column in columns}
    other = [draw(st.integers(0, 10**9)) for _ in columns]
    rows = [
        _row("L0", "3/1", "9.00 KB", columns, [_cell(*pair) for pair in zip(columns, other, strict=True)]),
        _row("Sum", "1234/12", "1.50 GB", columns, [_cell(*pair) for pair in sums.items()]),
        _row("Int", "0/0", "0.00 KB", columns, [_cell(*pair) for pair in zip(columns, other, strict=True)]),
    ]
    return _table(columns, rows), sums


@given(_tables())
def test_a_figure_is_its_columns_or_missing(drawn: tuple[str, dict[str, Any]]) -> None:
    text, sums = drawn
    found = compaction_figures(text)
    for name, column in FIGURES.items():
        if column not in sums:
            assert name not in found
        else:
            factor = 2**30 if name.endswith("_bytes") else 1
            assert found[name] == float(_cell(column, sums[column])) * factor
    assert (found["lsm_bytes"], found["lsm_files"]) == (1.5 * 2**30, 1234)
    assert (found["l0_bytes"], found["l0_files"]) == (9216, 3)


@given(_tables(), st.integers(0, 20))
def test_a_row_with_a_cell_too_few_or_too_many_is_not_read(drawn: tuple[str, dict[str, Any]], at: int) -> None:
    text, _ = drawn
    cut = [line.rsplit(" ", 1)[0].rstrip() if line.startswith(" Sum") else line for line in text.split("\n")]
    more = [f"{line} 7.00" if line.startswith(" Sum") else line for line in text.split("\n")]
    for lines in (cut, more):
        assert "compaction_seconds" not in compaction_figures("\n".join(lines))
        assert "lsm_bytes" not in compaction_figures("\n".join(lines))


@given(st.integers(0, 9999), st.sampled_from(list(SUFFIXES)))
def test_counts_carry_a_suffix(number: int, suffix: str) -> None:
    assert read_count(f"{number}{suffix}") == number * SUFFIXES[suffix]


@pytest.mark.parametrize("text", ["", "-", "nan", "1.5K", "12X"])
def test_what_is_no_count(text: str) -> None:
    assert read_count(text) is None


@pytest.mark.parametrize(("text", "expected"), [("0.00 KB", 0.0), ("2.00 TB", 2.0 * 2**40), ("2.00", None), ("", None)])
def test_sizes(text: str, expected: float | None) -> None:
    assert read_size(text) == expected


def test_the_last_table_counts_and_priorities_are_another_one() -> None:
    columns = ["Comp(sec)"]
    tables = [
        _table(columns, [_row("Sum", "1/0", "1.00 KB", columns, ["5.00"])]),
        _table(columns, [_row("Low", "1/0", "1.00 KB", columns, ["6.00"])], group="Priority"),
        _table(columns, [_row("Sum", "1/0", "1.00 KB", columns, ["7.00"])]),
        _table(columns, [_row("Sum", "1/0", "1.00 KB", columns, ["8.00"])], group="Priority"),
    ]
    assert compaction_figures("\n".join(tables))["compaction_seconds"] == 7.0


def test_a_column_twice_is_not_guessed_at() -> None:
    columns = ["Comp(sec)", "Comp(sec)"]
    assert compaction_figures(_table(columns, [_row("Sum", "1/0", "1.00 KB", columns, ["5.00", "6.00"])])) == {}


def test_no_table_no_figures() -> None:
    assert compaction_figures("") == {}
    assert compaction_figures("** Compaction Stats [default] **") == {}
    assert compaction_figures("Level Files Size(MB)\n--------\n  0        2       54\n") == {}


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
    assert statistics_counters(TEXT) == {
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
    assert statistics_counters(text) == {
        "rocksdb.sst.read.micros.count": 0.0,
        "rocksdb.sst.read.micros.sum": 0.0,
    }


def test_a_histogram_of_an_old_release_has_other_percentiles():
    """Up to 5.12 neither the highest nor a count."""
    text = "rocksdb.db.get.micros P50 : 1.5 P95 : 2.0 P99 : 3.0 COUNT : 4 SUM : 7\n"
    assert statistics_counters(text)["rocksdb.db.get.micros.p99"] == 3.0
    assert statistics_counters("rocksdb.db.get.micros statistics Percentiles :=> 50 : 1.5 95 : 2.0\n") == {}


def test_levels_by_the_names_of_their_columns():
    found = compaction_levels(TABLE)
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
    assert compaction_levels(text)[0]["write_new_bytes"] == -0.3 * 2**30


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
    found = [
        (each["family"], each.get("level"), each.get("priority"), each["seconds"]) for each in compaction_levels(text)
    ]
    assert found == [
        ("default", "Sum", None, 2.0),
        ("a name", "Sum", None, 4.0),
        ("default", None, "Low", 3.0),
        ("a name", None, "High", 5.0),
    ]
    assert compaction_figures(text)["compaction_seconds"] == 2.0


def test_sizes_before_5_1_are_in_the_unit_of_their_head():
    text = "** Compaction Stats [default] **\nLevel Files Size(MB) Score Comp(sec)\n---\n Sum 3/0 96.50 0.0 7\n\n"
    assert compaction_figures(text) == {
        "lsm_bytes": 96.5 * 2**20,
        "lsm_files": 3.0,
        "compaction_seconds": 7.0,
    }
    assert compaction_levels(text)[0]["bytes"] == 96.5 * 2**20


def test_nothing_is_found_in_nothing():
    assert (statistics_counters(""), compaction_levels("")) == ({}, [])


GB, MB = 2**30, 2**20
DUMP = """Uptime(secs): {uptime:.1f} total, 0.8 interval
Flush(GB): cumulative {flush:.3f}, interval 0.024
Cumulative compaction: {write:.2f} GB write, {write_rate:.2f} MB/s write, 0.00 GB read, 0.00 MB/s read, 0.6 seconds
Interval compaction: 9.00 GB write, 9.00 MB/s write, 9.00 GB read, 9.00 MB/s read, 9.0 seconds
Cumulative writes: 9K writes, 9K keys, 9K commit groups, 1.0 writes per group, ingest: {ingest:.2f} GB, {rate:.2f} MB/s
Interval writes: 126K writes, 126K keys, 126K commit groups, 1.0 writes per commit group, ingest: 15.74 MB, 19.83 MB/s
"""


def _dump(uptime: float, written: float, ingested: float, flush: float = 0.0) -> str:
    """As RocksDB prints it, of bytes."""
    return DUMP.format(
        uptime=uptime,
        flush=flush / GB,
        write=written / GB,
        write_rate=written / MB / uptime,
        ingest=ingested / GB,
        rate=ingested / MB / uptime,
    )


def test_a_load_without_compaction_has_a_factor_of_one() -> None:
    """The published formula, which adds the flushed bytes to what holds them already, says 2."""
    found = total_figures(_dump(1800.0, 400 * GB, 400 * GB, flush=400 * GB))
    assert found["write_amplification"] == 1.0
    assert found["flush_bytes"] == 400 * GB


@pytest.mark.parametrize(("uptime", "bytes_"), [(1800.0, 123.456 * GB), (3.0, 4.5 * MB), (60.0, 300 * MB)])
def test_volumes_are_as_precise_as_the_output_allows(uptime: float, bytes_: float) -> None:
    found = total_figures(_dump(uptime, bytes_, bytes_))
    assert found["compaction_write_bytes"] == pytest.approx(bytes_, rel=0.02)
    assert found["ingest_bytes"] == pytest.approx(bytes_, rel=0.02)


def test_nothing_ingested_has_no_amplification() -> None:
    assert "write_amplification" not in total_figures(_dump(10.0, 4.0 * GB, 0.0))


def test_nothing_written_is_a_factor_of_zero() -> None:
    assert total_figures(_dump(10.0, 0.0, 4.0 * GB))["write_amplification"] == 0.0


def test_the_last_dump_counts() -> None:
    found = total_figures(_dump(10.0, 1.0 * GB, 1.0 * GB) + _dump(20.0, 6.0 * GB, 2.0 * GB))
    assert found["uptime_seconds"] == 20.0
    assert found["write_amplification"] == pytest.approx(3.0)


def test_a_cut_line_is_missing() -> None:
    assert total_figures("Uptime(secs): 5.") == {}
    assert total_figures("Cumulative compaction: 0.05 GB write, 10.15 MB/s") == {}
    assert total_figures("Estimated pending compaction bytes: 12") == {"pending_compaction_bytes": 12}


@pytest.mark.parametrize(
    ("keys", "log", "known"),
    [
        ("15K", "15K writes, 0 syncs, 15979.00 writes per sync", 15979),
        ("15K", "15K writes, 2 syncs, 5326.33 writes per sync", 15000),  # old releases divide by one more
        ("1500K", "15K writes, 0 syncs, 15979.00 writes per sync", 1500000),  # batches
        ("600K", "0 writes, 0 syncs, 0.00 writes per sync", 600000),  # no log
    ],
)
def test_keys_are_those_in_the_log_where_each_has_one(keys: str, log: str, known: int) -> None:
    text = _dump(3.0, 4.5 * MB, 4.5 * MB).replace("9K keys", f"{keys} keys")
    found = total_figures(f"{text}Cumulative WAL: {log}, written: 0.01 GB, 1.87 MB/s\n")
    assert found["keys_written"] == known


OLD = (
    "Stalls(count): {l0d} level0_slowdown, {cd} level0_slowdown_with_compaction, {l0s} level0_numfiles, "
    "{cs} level0_numfiles_with_compaction, {ps} stop for pending_compaction_bytes, "
    "{pd} slowdown for pending_compaction_bytes, {ms} memtable_compaction, {md} memtable_slowdown, "
    "interval 7 total count"
)
NEW = (
    "Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: {cd}, "
    "cf-l0-file-count-limit-stops-with-ongoing-compaction: {cs}, l0-file-count-limit-delays: {l0d}, "
    "l0-file-count-limit-stops: {l0s}, memtable-limit-delays: {md}, memtable-limit-stops: {ms}, "
    "pending-compaction-bytes-delays: {pd}, pending-compaction-bytes-stops: {ps}, total-delays: {td}, "
    "total-stops: {ts}"
)
counters = st.fixed_dictionaries(
    {name: st.integers(0, 10**9) for name in ("l0d", "cd", "l0s", "cs", "ps", "pd", "ms", "md")}
)


def _new(given: dict[str, int]) -> str:
    total = {"td": given["l0d"] + given["md"] + given["pd"], "ts": given["l0s"] + given["ms"] + given["ps"]}
    return NEW.format(**given, **total)


@given(counters)
def test_both_forms_give_the_same_figures(given: dict[str, int]) -> None:
    old, new = stall_figures(OLD.format(**given)), stall_figures(_new(given))
    assert old == new
    assert old["stall_memtable_stops"] == given["ms"]
    assert old["stall_pending_delays"] == given["pd"]
    assert old["stalls"] == sum(given[name] for name in ("l0d", "l0s", "ms", "md", "pd", "ps"))


@pytest.mark.parametrize(
    ("l0", "memtable", "pending", "total"),
    [(1429, 0, 1131, 2560), (285, 0, 12585, 12870), (5, 22, 0, 27), (287, 0, 687, 974)],
)
def test_published_sums(l0: int, memtable: int, pending: int, total: int) -> None:
    given = {"l0d": l0, "md": memtable, "pd": pending, "cd": l0, "l0s": 0, "cs": 0, "ps": 0, "ms": 0}
    assert stall_figures(_new(given))["stall_delays"] == total
    assert f"total-delays: {total}," in _new(given)


def test_lines_of_8_1_run_on_into_what_follows() -> None:
    """Its source ends each counter with a comma, and the line with nothing."""
    given = dict.fromkeys(("cd", "l0s", "cs", "ps", "pd", "ms", "md"), 0) | {"l0d": 3}
    text = f"{_new(given)}, interval: 3 total count\n** DB Stats **\n"
    text += "Write Stall (count): write-buffer-manager-limit-stops: 4, Block cache LRUCache@0x1#2 capacity: 8.00 MB\n"
    found = stall_figures(text)
    assert found["stall_l0_delays"] == 3
    assert found["stall_write_buffer_manager_stops"] == 4
    assert found["stalls"] == 3


def test_the_last_dump_counts_stalls() -> None:
    zero = dict.fromkeys(("l0d", "cd", "l0s", "cs", "ps", "pd", "ms", "md"), 0)
    late = zero | {"ms": 5}
    assert stall_figures("\n".join([OLD.format(**zero), OLD.format(**late)]))["stalls"] == 5
    assert stall_figures("\n".join([_new(zero), _new(late)]))["stalls"] == 5


def test_a_cut_line_gives_no_total() -> None:
    given = dict.fromkeys(("l0d", "cd", "l0s", "cs", "ps", "pd", "ms", "md"), 9)
    assert stall_figures(OLD.format(**given)[:200]) == {}
    cut = _new(given)[:250]
    assert {"stalls", "stall_stops", "stall_delays"}.isdisjoint(stall_figures(cut))


def test_a_damaged_count_is_missing() -> None:
    line = "Stalls(count): nan level0_slowdown, 3 level0_numfiles, x7 memtable_slowdown,, interval 0 total count\n"
    assert stall_figures(line) == {"stall_l0_stops": 3}


def test_time_in_stalls() -> None:
    text = "Cumulative stall: 00:00:0.000 H:M:S, 0.0 percent\nInterval stall: 09:09:9.000 H:M:S, 9.0 percent\n"
    last = "Cumulative stall: 01:02:3.500 H:M:S, 12.5 percent\n"
    assert stall_figures(text) == {"stall_seconds": 0, "stall_pct": 0}
    assert stall_figures(text + last) == {"stall_seconds": 3723.5, "stall_pct": 12.5}


def test_nothing_printed_nothing_said() -> None:
    assert stall_figures("") == {}


MEMTABLES = """rocksdb.num-immutable-mem-table: 1
rocksdb.size-all-mem-tables: 9106648
rocksdb.num-entries-active-mem-table: 5609
"""
CACHE = "Block cache LRUCache@0x5606#11 capacity: 32.00 MB seed: 17 usage: 92.16 KB table_size: 8192 occupancy: 7218\n"
BEFORE = "Block cache LRUCache@0x55#1 capacity: 1.50 GB collections: 1 last_copies: 0 last_secs: 0.1 secs_since: 0\n"


def test_memtables() -> None:
    assert memory_figures(MEMTABLES) == {"memtable_bytes": 9106648}
    assert memory_properties(MEMTABLES)["rocksdb.num-immutable-mem-table"] == 1


def test_the_last_look_counts() -> None:
    later = "\n\nrocksdb.size-all-mem-tables: 5\n\n"
    assert memory_figures(MEMTABLES + later) == {"memtable_bytes": 5}


def test_the_block_cache() -> None:
    """Up to 7.6 what it holds is not said; 8.1 does not end the line before."""
    used = {"block_cache_capacity_bytes": 32 * 2**20, "block_cache_bytes": 92.16 * 2**10}
    assert memory_figures(BEFORE) == {"block_cache_capacity_bytes": 1.5 * 2**30}
    assert memory_figures(BEFORE + CACHE) == used
    assert memory_figures(f"Write Stall (count): total-stops: 0, {CACHE}") == used


def test_nothing_is_found_in_nothing_memory() -> None:
    assert memory_figures("Block cache entry stats(count,size,portion): Misc(1,0.00 KB,0%)\n") == {}


TITLE = "** File Read Latency Histogram By Level [{}] **\n"
LEVEL = """\
** Level {} read latency histogram (micros):
Count: {} Average: 92.2643  StdDev: 404.48
Min: 24  Median: 56.7485  Max: 12000
Percentiles: P50: 56.75 P75: 67.43 P99: 620.75 P99.9: 6941.88 P99.99: 9878.34
------------------------------------------------------
(      22,      34 ]       82   0.128%   0.128%

"""
READS_FIGURES = {
    "avg_us": 92.2643, "stddev_us": 404.48, "min_us": 24.0, "median_us": 56.7485, "max_us": 12000.0,
    "p50_us": 56.75, "p75_us": 67.43, "p99_us": 620.75, "p99_9_us": 6941.88, "p99_99_us": 9878.34,
}  # fmt: skip


def test_each_level_of_each_family_has_its_last_histogram() -> None:
    first = TITLE.format("default") + LEVEL.format(0, 5)
    last = TITLE.format("default") + LEVEL.format(10, 7) + LEVEL.format(0, 6) + TITLE.format("a b") + LEVEL.format(2, 1)
    assert file_reads(first + last) == [
        {"family": "a b", "level": "L2", "operations": 1.0, **READS_FIGURES},
        {"family": "default", "level": "L0", "operations": 6.0, **READS_FIGURES},
        {"family": "default", "level": "L10", "operations": 7.0, **READS_FIGURES},
    ]


def test_a_histogram_that_is_cut_off_is_none() -> None:
    text = TITLE.format("default") + LEVEL.format(0, 5)
    assert file_reads(text[: text.index("Percentiles")]) == []
    assert file_reads("") == []
    assert "stddev_us" not in file_reads(text.replace("404.48", "-nan"))[0]
