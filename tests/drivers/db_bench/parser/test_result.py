from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.drivers.db_bench.parser import histogram, result
from stepgrid.model.figures import ParseError

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
    old = result.figures(result.find(V1.format(**given), name), [])
    new = result.figures(result.find(V2.format(**given), name), [])
    assert old == {"qps": qps, "usec_per_op": usec, "mb_per_s": rate}
    assert new == {**old, "seconds": secs, "operations": operations}


@given(names, st.integers(0, 999), seconds, st.integers(1, 10**6))
def test_of_a_low_rate_the_cut_fraction_is_restored(name: str, qps: int, secs: float, operations: int) -> None:
    line = V2.format(name=name, usec=1.0, qps=qps, rate=1.0, seconds=secs, operations=operations)
    assert result.figures(result.find(line, name), [])["qps"] == operations / secs


@given(st.text(alphabet="fillseq :.0123456789microsopec/;\n", max_size=200))
def test_noise_is_no_result(text: str) -> None:
    if not re.search(r"^fillseq +: +\d+\.\d+ micros/op \d+ ops/sec;", text, re.MULTILINE):
        with pytest.raises(ParseError):
            result.find(text, "fillseq")


def test_a_name_that_another_one_contains() -> None:
    text = V1.format(name="readrandomwriterandom", usec=1.0, qps=1, rate=1.0)
    with pytest.raises(ParseError, match=r"^no result line of readrandom \(`readrandom : … micros/op … ops/sec`\)$"):
        result.find(text, "readrandom")


def test_a_line_without_a_rate() -> None:
    line = "multireadrandom :       6.195 micros/op 161424 ops/sec; (322990 of 322990 found)"
    assert result.figures(result.find(line, "multireadrandom"), []) == {
        "qps": 161424,
        "usec_per_op": 6.195,
        "found_pct": 100,
    }


def test_a_line_of_mixgraph() -> None:
    line = (
        "mixgraph     :     137.321 micros/op 7282 ops/sec 60.001 seconds 436961 operations;   12.3 MB/s "
        "( Gets:362777 Puts:61049 Seek:13135, reads 362777 in 362001 found, avg size: 35.1 value, 560.0 scan)"
    )
    found = result.figures(result.find(line, "mixgraph"), [])
    assert found == {
        "qps": 7282,
        "usec_per_op": 137.321,
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
    assert result.figures(result.find(line, "mixgraph"), []).get("found_pct") == found_pct


def test_a_line_of_mixgraph_without_puts_and_seeks() -> None:
    line = (
        "mixgraph     :     137.321 micros/op 7282 ops/sec; "
        "( Gets:9 Puts:0 Seek:0, reads 9 in 9 found, avg size: -nan value, nan scan)"
    )
    assert result.figures(result.find(line, "mixgraph"), []) == {
        "qps": 7282, "usec_per_op": 137.321, "gets_per_s": 7282, "puts_per_s": 0, "seeks_per_s": 0, "found_pct": 100,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("release", "clients", "usec"), [((5, 18, 3), 4, 8.0), ((5, 18), None, None), ((6, 0), 4, 2.0), ((), 4, 2.0)]
)
def test_until_5_18_the_time_of_an_operation_is_that_of_the_wall(
    release: tuple[int, ...], clients: int | None, usec: float | None
) -> None:
    found = result.find(V1.format(name="readrandom", usec=2.0, qps=500000, rate=1.0), "readrandom")
    assert result.of_clients(found, release, clients).usec_per_op == usec


def test_nothing_to_find_is_no_percentage() -> None:
    line = "readrandom   :       1.000 micros/op 1000 ops/sec; (0 of 0 found)"
    assert "found_pct" not in result.figures(result.find(line, "readrandom"), [])


def test_a_benchmark_that_was_skipped_says_why() -> None:
    text = "DB path: [db]\nfillseq      : skipped (--use_existing_db is true)\n"
    with pytest.raises(ParseError, match=r"^db_bench skipped fillseq: --use_existing_db is true$"):
        result.find(text, "fillseq")


def test_the_first_of_two_lines_counts() -> None:
    text = "\n".join(V1.format(name="readrandom", usec=usec, qps=7000, rate=1.0) for usec in (1.5, 9.5))
    assert result.find(text, "readrandom").usec_per_op == 1.5


def _histogram(count: int, average: float) -> histogram.Histogram:
    return histogram.Histogram("read", count, average, 1.0, {})


def test_operations_of_an_old_line_are_those_of_the_histogram() -> None:
    found = result.find(V1.format(name="readrandom", usec=2.0, qps=1000, rate=1.0), "readrandom")
    given = result.figures(found, [_histogram(300, 1.9), _histogram(200, 2.1)])
    assert (given["operations"], given["seconds"]) == (500, 0.5)


def test_but_not_where_a_sample_is_a_batch() -> None:
    found = result.find(V1.format(name="multireadrandom", usec=6.2, qps=161424, rate=1.0), "multireadrandom")
    assert result.figures(found, [_histogram(32299, 61.95)]).keys() == {"qps", "usec_per_op", "mb_per_s"}


def test_less_than_one_operation_per_second_is_not_none() -> None:
    old = V1.format(name="readseq", usec=3e6, qps=0, rate=1.0)
    new = V2.format(name="readseq", usec=3e6, qps=0, rate=1.0, seconds=30.0, operations=10)
    assert "qps" not in result.figures(result.find(old, "readseq"), [])
    assert result.figures(result.find(new, "readseq"), [])["qps"] == pytest.approx(1 / 3)
