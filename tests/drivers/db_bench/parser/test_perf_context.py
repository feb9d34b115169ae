"""The counters of --perf_level, which db_bench prints behind its result."""

from stepgrid.drivers.db_bench.parser import perf_context

RESULT = "readrandom   :       3.523 micros/op 283840 ops/sec 0.705 seconds 200000 operations;   15.7 MB/s"
COUNTERS = "user_key_comparison_count = 22035820, block_read_count = 0, env_new_file_nanos = 7"


def test_counters_by_name() -> None:
    found = perf_context.counters(f"{RESULT} (2 of 2 found)\n PERF_CONTEXT:\n{COUNTERS}\nMicroseconds per read:\n")
    assert found == {
        "perf_context.user_key_comparison_count": 22035820,
        "perf_context.block_read_count": 0,
        "perf_context.env_new_file_nanos": 7,
    }


def test_of_a_benchmark_that_says_nothing_else() -> None:
    assert perf_context.counters(f"{RESULT} PERF_CONTEXT:\n{COUNTERS}\n")["perf_context.env_new_file_nanos"] == 7


def test_levels_have_a_counter_each() -> None:
    """One that no level has counted is followed by the next name."""
    text = " PERF_CONTEXT:\nget_read_bytes = 5, bloom_filter_useful = block_cache_hit_count = 3@level0, 4@level10\n"
    assert perf_context.counters(text) == {
        "perf_context.get_read_bytes": 5,
        "perf_context.block_cache_hit_count@level0": 3,
        "perf_context.block_cache_hit_count@level10": 4,
    }


def test_without_a_perf_level_there_are_none() -> None:
    assert perf_context.counters(f"{RESULT}\n") == {}
