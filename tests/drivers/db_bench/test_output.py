"""Result lines, histograms, counters of a result and lines of clients."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.figures import Buckets, ParseError
from stepgrid_databases.drivers.db_bench.engine_statistics import engine_figures
from stepgrid_databases.drivers.db_bench.output import (
    Histogram,
    client_rates,
    correct_client_time,
    find_result,
    histogram_buckets,
    histograms_after,
    perf_counters,
    remove_interval_dumps,
    result_figures,
    writer_figures,
)

V1 = "{name:<12} : {usec:11.3f} micros/op {qps} ops/sec; {rate:6.1f} MB/s"
V2 = "{name:<12} : {usec:11.3f} micros/op {qps} ops/sec {seconds:.3f} seconds {operations} operations; {rate:6.1f} MB/s"

names = st.sampled_from(["fillseq", "readrandom", "readwhilewriting", "seekrandomwhilewriting"])
usecs = st.integers(1, 10**10).map(lambda n: n / 1000)
rates = st.integers(0, 10**6).map(lambda n: n / 10)
seconds = st.integers(1, 10**7).map(lambda n: n / 1000)


@given(names, usecs, st.integers(1000, 10**9), rates, seconds, st.integers(1, 10**12))
def test_a_line_of_either_form_gives_back_what_was_printed(
    name: str, usec: float, qps: int, rate: float, secs: float, operations: int
) -> None:
    given = {"name": name, "usec": usec, "qps": qps, "rate": rate, "seconds": secs, "operations": operations}
    old = result_figures(find_result(V1.format(**given), name), [])
    new = result_figures(find_result(V2.format(**given), name), [])
    assert old == {"qps": qps, "usec_per_op": usec, "qps_per_client": 1e6 / usec, "mb_per_s": rate}
    assert new == {**old, "seconds": secs, "operations": operations}


@given(names, st.integers(0, 999), seconds, st.integers(1, 10**6))
def test_of_a_low_rate_the_cut_fraction_is_restored(name: str, qps: int, secs: float, operations: int) -> None:
    line = V2.format(name=name, usec=1.0, qps=qps, rate=1.0, seconds=secs, operations=operations)
    assert result_figures(find_result(line, name), [])["qps"] == operations / secs


@given(st.text(alphabet="fillseq :.0123456789microsopec/;\n", max_size=200))
def test_noise_is_no_result(text: str) -> None:
    if not re.search(r"^fillseq +: +\d+\.\d+ micros/op \d+ ops/sec;", text, re.MULTILINE):
        with pytest.raises(ParseError):
            find_result(text, "fillseq")


def test_a_name_that_another_one_contains() -> None:
    text = V1.format(name="readrandomwriterandom", usec=1.0, qps=1, rate=1.0)
    with pytest.raises(ParseError, match=r"^no result line of readrandom \(`readrandom : … micros/op … ops/sec`\)$"):
        find_result(text, "readrandom")


def test_a_line_without_a_rate() -> None:
    line = "multireadrandom :       6.195 micros/op 161424 ops/sec; (322990 of 322990 found)"
    assert result_figures(find_result(line, "multireadrandom"), []) == {
        "qps": 161424,
        "usec_per_op": 6.195,
        "qps_per_client": 1e6 / 6.195,
        "found_pct": 100,
    }


def test_a_line_of_mixgraph() -> None:
    line = (
        "mixgraph     :     137.321 micros/op 7282 ops/sec 60.001 seconds 436961 operations;   12.3 MB/s "
        "( Gets:362777 Puts:61049 Seek:13135, reads 362777 in 362001 found, avg size: 35.1 value, 560.0 scan)"
    )
    found = result_figures(find_result(line, "mixgraph"), [])
    assert found == {
        "qps": 7282,
        "usec_per_op": 137.321,
        "qps_per_client": 1e6 / 137.321,
        "seconds": 60.001,
        "operations": 436961,
        "mb_per_s": 12.3,
        "gets_per_s": 7282 * 362777 / 436961,
        "puts_per_s": 7282 * 61049 / 436961,
        "seeks_per_s": 7282 * 13135 / 436961,
        "found_pct": 100 * 362777 / 362001,
        "put_value_bytes": 35.1,
        "scan_keys": 560.0,
    }


@pytest.mark.parametrize(
    ("counts", "found_pct"),
    [
        ("Gets:0 Puts:0 Seek:18999 of 0 in 18999 found", None),  # seeks alone: nothing was looked up
        ("Gets:0 Puts:9 Seek:0 of 0 in 0 found", None),
        ("Gets:9000 Puts:0 Seek:0 of 9000 in 9000 found", 100),
        ("Gets:8700 Puts:1000 Seek:300 of 8700 in 9000 found", 100),  # 96.7 % of gets and seeks together
        ("Gets:8700 Puts:1000 Seek:300 of 4350 in 9000 found", 50),
    ],
)
def test_before_7_1_mixgraph_counts_the_keys_that_gets_found(counts: str, found_pct: float | None) -> None:
    line = f"mixgraph     :     157.321 micros/op 6356 ops/sec;  ( {counts})"
    assert result_figures(find_result(line, "mixgraph"), []).get("found_pct") == found_pct


def test_a_line_of_mixgraph_without_puts_and_seeks() -> None:
    line = (
        "mixgraph     :     137.321 micros/op 7282 ops/sec; "
        "( Gets:9 Puts:0 Seek:0, reads 9 in 9 found, avg size: -nan value, nan scan)"
    )
    assert result_figures(find_result(line, "mixgraph"), []) == {
        "qps": 7282, "usec_per_op": 137.321, "qps_per_client": 1e6 / 137.321, "gets_per_s": 7282, "puts_per_s": 0,
        "seeks_per_s": 0, "found_pct": 100,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("release", "clients", "usec"), [((5, 18, 3), 4, 8.0), ((5, 18), None, None), ((6, 0), 4, 2.0), ((), 4, 2.0)]
)
def test_until_5_18_the_time_of_an_operation_is_that_of_the_wall(
    release: tuple[int, ...], clients: int | None, usec: float | None
) -> None:
    found = find_result(V1.format(name="readrandom", usec=2.0, qps=500000, rate=1.0), "readrandom")
    assert correct_client_time(found, release, clients).usec_per_op == usec


def test_nothing_to_find_is_no_percentage() -> None:
    line = "readrandom   :       1.000 micros/op 1000 ops/sec; (0 of 0 found)"
    assert "found_pct" not in result_figures(find_result(line, "readrandom"), [])


def test_a_benchmark_that_was_skipped_says_why() -> None:
    text = "DB path: [db]\nfillseq      : skipped (--use_existing_db is true)\n"
    with pytest.raises(ParseError, match=r"^db_bench skipped fillseq: --use_existing_db is true$"):
        find_result(text, "fillseq")


def test_the_first_of_two_lines_counts() -> None:
    text = "\n".join(V1.format(name="readrandom", usec=usec, qps=7000, rate=1.0) for usec in (1.5, 9.5))
    assert find_result(text, "readrandom").usec_per_op == 1.5


def _histogram(count: int, average: float) -> Histogram:
    return Histogram("read", count, {"avg_us": average})


def test_operations_of_an_old_line_are_those_of_the_histogram() -> None:
    found = find_result(V1.format(name="readrandom", usec=2.0, qps=1000, rate=1.0), "readrandom")
    given = result_figures(found, [_histogram(300, 1.9), _histogram(200, 2.1)])
    assert (given["operations"], given["seconds"]) == (500, 0.5)


def test_but_not_where_a_sample_is_a_batch() -> None:
    found = find_result(V1.format(name="multireadrandom", usec=6.2, qps=161424, rate=1.0), "multireadrandom")
    assert result_figures(found, [_histogram(32299, 61.95)]).keys() == {
        "qps", "usec_per_op", "qps_per_client", "mb_per_s",
    }  # fmt: skip


def test_less_than_one_operation_per_second_is_not_none() -> None:
    old = V1.format(name="readseq", usec=3e6, qps=0, rate=1.0)
    new = V2.format(name="readseq", usec=3e6, qps=0, rate=1.0, seconds=30.0, operations=10)
    assert "qps" not in result_figures(find_result(old, "readseq"), [])
    assert result_figures(find_result(new, "readseq"), [])["qps"] == pytest.approx(1 / 3)


HEAD = (
    "fillseq      :       2.000 micros/op 500000 ops/sec;\n"
    "Microseconds per write:\n"
    "Count: 9 Average: 2.5584  StdDev: 40.40\n"
    "Min: 1  Median: 1.5700  Max: 8097\n"
    "Percentiles: P50: 1.57 P75: 1.86 P99: 3.99 P99.9: 15.26 P99.99: 315.00\n"
)
DASHES = "------------------------------------------------------\n"
FIRST = "[       0,       1 ]        2  22.222%  22.222% ####\n"
SECOND = "(       1,      20 ]        7  77.778% 100.000% ###############\n"
BOTH = [Buckets("", [0.0, 1.0], [1.0, 20.0], [2, 7])]
ONE = [Buckets("", [0.0], [1.0], [2])]


def buckets(*lines: str) -> list[Buckets]:
    text = HEAD + "".join(lines)
    found = histograms_after(text, text.index("\n"))
    assert [each.count for each in found] == [9]
    return histogram_buckets(found)


@pytest.mark.parametrize(
    "end", ["", "\n", "\n\nDB path: [db]\n", "DB path: [db]\n", "\n** Compaction Stats [default] **\n"]
)
def test_buckets_come_by_column(end: str) -> None:
    assert buckets(DASHES, FIRST, SECOND, end) == BOTH


@pytest.mark.parametrize(
    "line", ["note\n", "\n", "(       1,      20 ]\n", "(       1,      20 ]        7", "(   x,   20 ]   7 1%\n"]
)
def test_a_line_that_is_no_bucket_ends_them(line: str) -> None:
    assert buckets(DASHES, FIRST, line) == ONE
    assert buckets(DASHES, FIRST, line.rstrip("\n") + "\n", SECOND) == ONE


def test_the_last_line_need_not_end() -> None:
    assert buckets(DASHES, FIRST, SECOND.rstrip("\n")) == BOTH


@pytest.mark.parametrize("lines", [(), (DASHES,), (DASHES, "\n"), (DASHES, "\n", FIRST), ("DB path: [db]\n", FIRST)])
def test_a_histogram_without_buckets_has_no_columns(lines: tuple[str, ...]) -> None:
    assert buckets(*lines) == []


def test_what_belongs_to_the_next_result_is_left_to_it() -> None:
    text = HEAD + DASHES + FIRST + "\n" + HEAD.replace("write", "read") + DASHES + SECOND
    assert [each.operation for each in histograms_after(text, text.index("\n"))] == ["write"]


def test_one_that_was_cut_off_is_none_and_hides_none() -> None:
    whole = HEAD.partition("\n")[2] + DASHES + FIRST
    found = histograms_after("Microseconds per read:\nCount: 1 Average: 2.0\n" + whole, 0)
    assert [(each.operation, each.count) for each in found] == [("write", 9)]


RESULT = "readrandom   :       3.523 micros/op 283840 ops/sec 0.705 seconds 200000 operations;   15.7 MB/s"
COUNTERS = "user_key_comparison_count = 22035820, block_read_count = 0, env_new_file_nanos = 7"


def test_counters_by_name() -> None:
    found = perf_counters(f"{RESULT} (2 of 2 found)\n PERF_CONTEXT:\n{COUNTERS}\nMicroseconds per read:\n")
    assert found == {
        "perf_context.user_key_comparison_count": 22035820,
        "perf_context.block_read_count": 0,
        "perf_context.env_new_file_nanos": 7,
    }


def test_of_a_benchmark_that_says_nothing_else() -> None:
    assert perf_counters(f"{RESULT} PERF_CONTEXT:\n{COUNTERS}\n")["perf_context.env_new_file_nanos"] == 7


def test_levels_have_a_counter_each() -> None:
    """One that no level has counted is followed by the next name."""
    text = " PERF_CONTEXT:\nget_read_bytes = 5, bloom_filter_useful = block_cache_hit_count = 3@level0, 4@level10\n"
    assert perf_counters(text) == {
        "perf_context.get_read_bytes": 5,
        "perf_context.block_cache_hit_count@level0": 3,
        "perf_context.block_cache_hit_count@level10": 4,
    }


def test_without_a_perf_level_there_are_none() -> None:
    assert perf_counters(f"{RESULT}\n") == {}


LINE = "2026/11/21-18:08:10  ... thread {}: ({},{}) ops and ({:.1f},{:.1f}) ops/second in ({:.6f},{:.6f}) seconds\n"
DUMP = """
** DB Stats **
Uptime(secs): {0:.1f} total, 1.0 interval
Cumulative writes: 5 writes, 5 keys, 5 commit groups, 1.0 writes per commit group, ingest: 0.01 GB, 1.00 MB/s
Interval stall: 00:00:0.000 H:M:S, 0.0 percent
"""
STALL = "Write Stall (count): write-buffer-manager-limit-stops: 0\n"
RUNNING = "num-running-compactions: 0\nnum-running-flushes: 0\n\n"
INTERVALS_RESULT = "readrandom   :       3.523 micros/op 283840 ops/sec; (5 of 5 found)\n"


def line(client: int, operations: int, second: float, rate: float) -> str:
    return LINE.format(client, operations, operations, rate, rate, 1.0, second)


def test_each_client_has_its_own() -> None:
    text = line(1, 500, 1.0, 500.0) + line(0, 48, 1.5, 32.0) + "num-running-flushes: 0\n" + line(1, 900, 2.0, 400.0)
    found = [(each.client, each.second, each.per_second) for each in client_rates(text)]
    assert found == [(1, 1.0, 500.0), (0, 1.5, 32.0), (1, 2.0, 400.0)]


def test_half_a_line_is_none() -> None:
    assert list(client_rates(line(0, 5, 1.0, 5.0)[:-10])) == []


@pytest.mark.parametrize("tail", ["", STALL, RUNNING, STALL + RUNNING])
def test_statistics_of_an_interval_are_left_out(tail: str) -> None:
    end = DUMP.format(9.0)
    text = INTERVALS_RESULT + line(0, 5, 1.0, 5.0) + DUMP.format(1.0) + tail + line(1, 5, 1.0, 5.0) + end
    kept = remove_interval_dumps(text)
    assert engine_figures(kept)["uptime_seconds"] == 9.0
    assert engine_figures(remove_interval_dumps(text.removesuffix(end))) == {}


def test_a_result_is_never_left_out() -> None:
    text = line(0, 5, 1.0, 5.0) + INTERVALS_RESULT + DUMP.format(9.0)
    assert remove_interval_dumps(text) == text


def test_the_writer_is_client_0() -> None:
    said = line(1, 90000, 20.0, 4500.0) + line(0, 100000, 20.0, 5000.0) + line(0, 216000, 40.0, 5800.0)
    assert writer_figures("readwhilewriting", said, {}, alone=True) == {"writer_qps": 5400.0}
    assert writer_figures("readrandom", said, {}, alone=True) == {}


def test_where_it_says_nothing_all_that_was_written_is_its_own() -> None:
    """Unless another benchmark of the step wrote as well."""
    metrics = {"keys_written": 19000.0, "seconds": 4.0}
    assert writer_figures("readwhilewriting", "", metrics, alone=True) == {"writer_qps": 4750.0}
    assert writer_figures("readwhilewriting", "", metrics, alone=False) == {}
    assert writer_figures("readwhilewriting", "", {"seconds": 4.0}, alone=True) == {}
