"""Seconds in which a client did next to nothing are stalls; before its last operation, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.collect import series
from stepgrid.collect.series import mark_stalls
from stepgrid.model.figures import ClientRate
from stepgrid.plugins.metrics import METRICS

RATES = st.lists(st.floats(0, 1e6), max_size=50)


@pytest.mark.parametrize(
    ("rates", "at"),
    [
        ([], []),
        ([100, 100, 0, 100], [2]),
        ([0, 100, 100], [0]),  # it began late
        ([100, 9.9, 10, 100, 100], [1]),  # below a tenth of its median
        ([100, 100, 0, 0], []),  # it was through
        ([100, 0, 100, 0], [1]),
        ([0, 0], [0, 1]),  # it did nothing at all
    ],
)
def test_stalls_of_a_client(rates, at):
    assert [index for index, stall in enumerate(mark_stalls(rates)) if stall] == at


@given(RATES)
def test_stalls_do_not_depend_on_the_unit(rates):
    """A power of two rounds nothing."""
    whole = [float(round(rate)) for rate in rates]
    assert mark_stalls([rate * 2 for rate in whole]) == mark_stalls(whole)
    assert len(mark_stalls(rates)) == len(rates)


@given(RATES)
def test_a_second_at_the_median_is_none(rates):
    marks = mark_stalls(rates)
    assert not any(mark for mark, rate in zip(marks, rates, strict=True) if rate and rate >= max(rates) / 10)


def test_the_share_is_of_all_clients_each_by_its_own_median():
    """A client that is slower than another does not stand still."""
    rates = {0: [100.0, 0.0, 100.0, 100.0], 1: [5.0, 5.0, 5.0, 5.0]}
    found = [
        ClientRate(client, float(second), "insert", rate)
        for client, line in rates.items()
        for second, rate in enumerate(line)
    ]
    queries = [ClientRate(0, 1.0, "query", 0.0), ClientRate(0, 2.0, "query", 3.0)]
    assert series.stall_figures([*reversed(found), *queries]) == {"insert_stalled_pct": 12.5, "query_stalled_pct": 50.0}
    assert series.stall_figures([]) == {}
    twice = [ClientRate(0, 1.0, "query", 3.0), ClientRate(0, 1.0, "query", 3.0, 5.0)]
    assert series.stall_figures(twice) == {"query_stalled_pct": 0.0}
    assert {f"{name}_stalled_pct" for name in series.OPERATIONS} <= METRICS.keys()
