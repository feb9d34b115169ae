from __future__ import annotations

import pytest

from stepgrid.summarize.comparisons.starting_server import State, marks

GIB = 2.0**30


def told(arm: State, base: State, again: bool = True) -> list[str]:
    return list(marks([arm] * 3, [base] * 3, again))


def test_tables_of_another_size() -> None:
    arm = {"data_bytes": 2 * GIB, "index_bytes": 0.4 * GIB, "rows": 10e6}
    base = {"data_bytes": 2.4 * GIB, "index_bytes": 0.5 * GIB, "rows": 10.1e6}
    assert told(arm, base) == [
        "began with 2.4 GiB in tables and indexes for 10,000,000 rows, the base with 2.9 GiB for 10,100,000"
    ]
    assert told(arm, base, again=False) == [], "their loads may differ by what is compared"


def test_pages_that_are_filled_less() -> None:
    assert told({"data_bytes": GIB, "rows": 4e6}, {"data_bytes": GIB, "rows": 5e6}) == [
        "began with 1 GiB in tables and indexes for 4,000,000 rows, the base with 1 GiB for 5,000,000"
    ]


def test_a_cache_that_is_warmer() -> None:
    arm = {"data_bytes": GIB, "cached_bytes": 0.06 * GIB, "cache_bytes": 0.5 * GIB}
    base = {"data_bytes": GIB, "cached_bytes": 1.9 * GIB, "cache_bytes": 2 * GIB}
    assert told(arm, base, again=False) == [
        "began with a server's cache that held 12 % of what fits, the base with 100 %"
    ]
    small = {**arm, "cached_bytes": 0.5 * GIB}
    assert told(small, base) == [], "a small cache that is full is as warm as a large one"


def test_a_history_list() -> None:
    assert told({"history_list_length": 48_000}, {"history_list_length": 12}, again=False) == [
        "began with 48,000 transactions in the history list, the base with 12"
    ]
    assert told({"history_list_length": 900}, {"history_list_length": 12}) == []
    assert told({"history_list_length": 48_000}, {"history_list_length": 30_000}) == []


def test_dead_rows() -> None:
    arm, base = {"dead_rows": 40_000.0, "rows": 200_000.0}, {"dead_rows": 0.0, "rows": 200_000.0}
    assert told(arm, base, again=False) == [
        "began with 40,000 dead rows beside 200,000 live ones, the base with 0 beside 200,000"
    ]
    assert told({**arm, "dead_rows": 4000.0}, base) == []


def test_a_vacuum() -> None:
    due, idle = {"vacuums": 0.0, "tables_to_vacuum": 2.0}, {"vacuums": 0.0, "tables_to_vacuum": 0.0}
    assert list(marks([due, due, idle], [idle] * 2, again=False)) == [
        "a vacuum was at work or due as 2 of 3 runs began, as 0 of 2 of the base"
    ]
    assert list(marks([due, idle, idle], [idle] * 3, again=False)) == []


@pytest.mark.parametrize(
    "known",
    [
        {"data_bytes": GIB, "rows": 5e6, "cached_bytes": 0.5 * GIB, "cache_bytes": GIB, "history_list_length": 9e4},
        {"dead_rows": 9.0},
        {"data_bytes": 0.0, "rows": 0.0, "cached_bytes": 0.0, "cache_bytes": 0.0, "dead_rows": 0.0},
        {},
    ],
)
def test_nothing_is_told_of_what_is_alike_or_not_known(known: State) -> None:
    assert told(known, known) == told(known, {}) == told({}, known) == []
