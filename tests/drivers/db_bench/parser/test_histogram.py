from __future__ import annotations

import pytest

from stepgrid.drivers.db_bench.parser import histogram
from stepgrid.model.figures import Buckets

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
    found = histogram.after(text, text.index("\n"))
    assert [each.count for each in found] == [9]
    return histogram.buckets(found)


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
    assert [each.operation for each in histogram.after(text, text.index("\n"))] == ["write"]


def test_one_that_was_cut_off_is_none_and_hides_none() -> None:
    whole = HEAD.partition("\n")[2] + DASHES + FIRST
    found = histogram.after("Microseconds per read:\nCount: 1 Average: 2.0\n" + whole, 0)
    assert [(each.operation, each.count) for each in found] == [("write", 9)]
