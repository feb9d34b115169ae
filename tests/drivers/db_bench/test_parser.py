from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError
from stepgrid.plugins.drivers import driver

RESULT = "readrandom   :       3.523 micros/op 283840 ops/sec 0.705 seconds 200000 operations;   15.7 MB/s\n"
HISTOGRAM = """Microseconds per {kind}:
Count: {count} Average: 3.5231  StdDev: 51.14
Min: 0  Median: 1.8421  Max: 8089
Percentiles: P50: 1.84 P75: 3.53 P99: 5.98 P99.9: 28.21 P99.99: 3291.30
------------------------------------------------------
[       0,       1 ]    24922  12.461%  12.461% ##
"""


def _step(folder: Path, stdout: str, stderr: str = "") -> Path:
    (folder / "stdout").write_text(stdout)
    (folder / "stderr").write_text(stderr)
    return folder


def _parse(folder: Path, *benchmarks: str) -> dict[str, float]:
    return dict(driver("db_bench").parse(folder, {"benchmarks": list(benchmarks)}).metrics)


def test_an_end_without_a_result(tmp_path: Path) -> None:
    _step(tmp_path, "Keys:       16 bytes each\nDB path: [db]\n")
    with pytest.raises(ParseError) as caught:
        _parse(tmp_path, "overwrite", "stats")
    expected = f"{tmp_path / 'stdout'}: no result line of overwrite (`overwrite : … micros/op … ops/sec`)"
    assert str(caught.value) == expected


@pytest.mark.parametrize("end", range(10, len(RESULT) - len(";   15.7 MB/s\n")))
def test_half_a_result_line_is_none(end: int, tmp_path: Path) -> None:
    with pytest.raises(ParseError):
        _parse(_step(tmp_path, RESULT[:end]), "readrandom")


def test_no_output_file(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        _parse(tmp_path, "stats")
    path = tmp_path / "stdout"
    assert str(caught.value) == f"{path}: there is no such file, where db_bench's output was expected"


def test_a_step_that_counts_no_operations_is_no_error(tmp_path: Path) -> None:
    _step(tmp_path, "waitforcompaction(db): started\nwaitforcompaction(db): finished\n")
    assert _parse(tmp_path, "levelstats", "flush", "waitforcompaction", "levelstats") == {}


def test_one_kind_of_operation(tmp_path: Path) -> None:
    found = _parse(_step(tmp_path, RESULT + HISTOGRAM.format(kind="read", count=5)), "readrandom")
    assert {name: value for name, value in found.items() if name.endswith("_us")} == {
        "avg_us": 3.5231,
        "p50_us": 1.84,
        "p75_us": 3.53,
        "p99_us": 5.98,
        "p99_9_us": 28.21,
        "p99_99_us": 3291.30,
        "max_us": 8089,
    }


def test_kinds_of_operation_are_kept_apart(tmp_path: Path) -> None:
    both = HISTOGRAM.format(kind="read", count=5) + HISTOGRAM.format(kind="write", count=6)
    found = _parse(_step(tmp_path, RESULT + both), "readrandom")
    assert (found["read_p99_us"], found["write_p99_us"]) == (5.98, 5.98)
    assert "p99_us" not in found


def test_a_histogram_of_something_else_is_not_taken(tmp_path: Path) -> None:
    """Of the next benchmark, of the file reads, of no samples, or cut."""
    other = RESULT.replace("readrandom", "seekrandom") + HISTOGRAM.format(kind="seek", count=5)
    levels = "** Level 0 read latency histogram (micros):\n" + HISTOGRAM.format(kind="read", count=5)
    empty, cut = HISTOGRAM.format(kind="read", count=0), HISTOGRAM.format(kind="read", count=5)[:100]
    for text in (other, levels, empty, cut):
        assert "p50_us" not in _parse(_step(tmp_path, RESULT + text), "readrandom")


def test_interval_dumps_on_stderr_are_not_the_end_of_the_step(tmp_path: Path) -> None:
    _step(tmp_path, RESULT, "RocksDB:    version 7.8.3\nUptime(secs): 20.0 total, 20.0 interval\n")
    assert "uptime_seconds" not in _parse(tmp_path, "readrandom")


def test_cache_hits_need_lookups(tmp_path: Path) -> None:
    counters = "rocksdb.block.cache.miss COUNT : {}\nrocksdb.block.cache.hit COUNT : {}\n"
    assert _parse(_step(tmp_path, counters.format(1, 3)), "stats") == {"block_cache_hit_pct": 75}
    assert _parse(_step(tmp_path, counters.format(0, 0)), "stats") == {}


def test_warnings_come_once_each(tmp_path: Path) -> None:
    lines = "WARNING: Optimization is disabled: benchmarks unnecessarily slow\n"
    _step(tmp_path, lines + "WARNING: Snappy compression is not enabled\n", lines)
    found = driver("db_bench").parse(tmp_path, {"benchmarks": ["stats"]})
    assert found.warnings == (
        "Optimization is disabled: benchmarks unnecessarily slow",
        "Snappy compression is not enabled",
    )


def test_a_writer_whose_share_is_unknown(tmp_path: Path) -> None:
    _step(tmp_path, RESULT.replace("readrandom", "readwhilewriting"))
    found = driver("db_bench").parse(tmp_path, {"benchmarks": ["readwhilewriting"], "write_rate": None})
    assert found.facts == {"qps_over_time": "includes the background writer, which qps does not"}
