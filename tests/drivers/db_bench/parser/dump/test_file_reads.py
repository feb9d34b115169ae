from __future__ import annotations

from stepgrid.drivers.db_bench.parser.dump.file_reads import file_reads

TITLE = "** File Read Latency Histogram By Level [{}] **\n"
LEVEL = """\
** Level {} read latency histogram (micros):
Count: {} Average: 92.2643  StdDev: 404.48
Min: 24  Median: 56.7485  Max: 12000
Percentiles: P50: 56.75 P75: 67.43 P99: 620.75 P99.9: 6941.88 P99.99: 9878.34
------------------------------------------------------
(      22,      34 ]       82   0.128%   0.128%

"""
FIGURES = {
    "avg_us": 92.2643, "stddev_us": 404.48, "min_us": 24.0, "median_us": 56.7485, "max_us": 12000.0,
    "p50_us": 56.75, "p75_us": 67.43, "p99_us": 620.75, "p99_9_us": 6941.88, "p99_99_us": 9878.34,
}  # fmt: skip


def test_each_level_of_each_family_has_its_last_histogram() -> None:
    first = TITLE.format("default") + LEVEL.format(0, 5)
    last = TITLE.format("default") + LEVEL.format(10, 7) + LEVEL.format(0, 6) + TITLE.format("a b") + LEVEL.format(2, 1)
    assert file_reads(first + last) == [
        {"family": "a b", "level": "L2", "operations": 1.0, **FIGURES},
        {"family": "default", "level": "L0", "operations": 6.0, **FIGURES},
        {"family": "default", "level": "L10", "operations": 7.0, **FIGURES},
    ]


def test_a_histogram_that_is_cut_off_is_none() -> None:
    text = TITLE.format("default") + LEVEL.format(0, 5)
    assert file_reads(text[: text.index("Percentiles")]) == []
    assert file_reads("") == []
    assert "stddev_us" not in file_reads(text.replace("404.48", "-nan"))[0]
