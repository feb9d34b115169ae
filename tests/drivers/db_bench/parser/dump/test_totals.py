from __future__ import annotations

import pytest

from stepgrid.drivers.db_bench.parser.dump import totals

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
    found = totals.figures(_dump(1800.0, 400 * GB, 400 * GB, flush=400 * GB))
    assert found["write_amplification"] == 1.0
    assert found["flush_bytes"] == 400 * GB


@pytest.mark.parametrize(("uptime", "bytes_"), [(1800.0, 123.456 * GB), (3.0, 4.5 * MB), (60.0, 300 * MB)])
def test_volumes_are_as_precise_as_the_output_allows(uptime: float, bytes_: float) -> None:
    found = totals.figures(_dump(uptime, bytes_, bytes_))
    assert found["compaction_write_bytes"] == pytest.approx(bytes_, rel=0.02)
    assert found["ingest_bytes"] == pytest.approx(bytes_, rel=0.02)


def test_nothing_ingested_has_no_amplification() -> None:
    assert "write_amplification" not in totals.figures(_dump(10.0, 4.0 * GB, 0.0))


def test_nothing_written_is_a_factor_of_zero() -> None:
    assert totals.figures(_dump(10.0, 0.0, 4.0 * GB))["write_amplification"] == 0.0


def test_the_last_dump_counts() -> None:
    found = totals.figures(_dump(10.0, 1.0 * GB, 1.0 * GB) + _dump(20.0, 6.0 * GB, 2.0 * GB))
    assert found["uptime_seconds"] == 20.0
    assert found["write_amplification"] == pytest.approx(3.0)


def test_a_cut_line_is_missing() -> None:
    assert totals.figures("Uptime(secs): 5.") == {}
    assert totals.figures("Cumulative compaction: 0.05 GB write, 10.15 MB/s") == {}
    assert totals.figures("Estimated pending compaction bytes: 12") == {"pending_compaction_bytes": 12}


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
    found = totals.figures(f"{text}Cumulative WAL: {log}, written: 0.01 GB, 1.87 MB/s\n")
    assert found["keys_written"] == known
