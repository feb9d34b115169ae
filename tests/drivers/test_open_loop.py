"""Schedules of operations: as many as the rate over time says, and what a trace may be."""

import math
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid_databases.drivers import open_loop
from tests.cases import rows

COUNT, SECONDS = st.integers(1, 5000), st.integers(1, 30).map(float)
EMPTY = dict.fromkeys(("ramp", "over", "sine", "period", "steps", "hold", "trace"))
RATES = st.one_of(
    COUNT,
    st.builds(lambda pair, over: {**EMPTY, "ramp": pair, "over": over}, st.tuples(COUNT, COUNT), SECONDS),
    st.builds(lambda pair, period: {**EMPTY, "sine": pair, "period": period}, st.tuples(COUNT, COUNT), SECONDS),
    st.builds(lambda rates, each: {**EMPTY, "steps": rates, "hold": each}, st.lists(COUNT, min_size=2), SECONDS),
)


def rate_at(rate, second):
    if not isinstance(rate, dict):
        return rate
    if rate["ramp"]:
        first, last = rate["ramp"]
        return first + (last - first) * min(1.0, second / rate["over"])
    if rate["steps"]:
        return rate["steps"][int(second / rate["hold"]) % len(rate["steps"])]
    low, high = rate["sine"]
    return low + (high - low) * (1 - math.cos(2 * math.pi * second / rate["period"])) / 2


@given(rate=RATES, second=st.floats(0, 40))
def test_as_many_operations_are_due_as_the_rate_says(rate, second):
    """Within 1.1 % and an operation at each point, by a sum over short pieces of time."""
    pieces, schedule = 8000, open_loop.points(rate, 40.0, str)
    expected = sum(rate_at(rate, second * (piece + 0.5) / pieces) for piece in range(pieces)) * second / pieces
    number = int(expected)
    (due,) = islice(open_loop.moments(schedule, "even", 1), number, number + 1)
    around = max(rate_at(rate, max(0.0, second - shift)) for shift in (0, 1e-3)) * second / pieces
    assert abs(sum_until(rate, due) - expected) <= 0.011 * expected + 2 + 2 * around


@given(rate=RATES)
def test_the_rates_of_all_seconds_are_what_is_asked(rate):
    schedule = open_loop.parse_text(open_loop.text(open_loop.points(rate, 40.0, str)))
    seconds = open_loop.rates_by_second(schedule, 40.0)
    assert [second for second, _ in seconds] == [float(second) for second in range(1, 41)]
    for second, asked in seconds:
        middle = sum(rate_at(rate, second - 1 + (piece + 0.5) / 400) for piece in range(400)) / 400
        assert asked == pytest.approx(middle, rel=0.02, abs=0.02 * max(value for _, value in schedule))


def sum_until(rate, second, pieces=8000):
    return sum(rate_at(rate, second * (piece + 0.5) / pieces) for piece in range(pieces)) * second / pieces


@given(rate=RATES, seed=st.integers(1, 2**31))
def test_random_arrivals_are_in_order_and_as_many(rate, seed):
    schedule = open_loop.points(rate, 40.0, str)
    moments = list(islice(open_loop.moments(schedule, "poisson", seed), 400))
    assert moments == sorted(moments) == list(islice(open_loop.moments(schedule, "poisson", seed), 400))
    within = [moment for moment in moments if moment <= 40]  # afterwards the last rate holds
    assert abs(sum_until(rate, within[-1]) - len(within)) < 6 * math.sqrt(400) + 0.011 * 400


def test_a_trace_holds_each_rate_until_the_next():
    text = open_loop.text(open_loop.steps(open_loop.read_trace("seconds,rate\n0, 100\n\n5,0\n10,50.5\n")))
    assert text == "0:100,5:100,5:0,10:0,10:50.5"
    moments = list(islice(open_loop.moments(open_loop.steps([(0, 100), (5, 0), (10, 50)]), None, 1), 551))
    assert (moments[499], moments[500], moments[550]) == pytest.approx((4.99, 10.0, 11.0))


@pytest.mark.parametrize(("content", "said"), rows(__file__, "what_is_no_trace"))
def test_what_is_no_trace(content, said):
    with pytest.raises(ValueError, match="trace") as refusal:
        open_loop.read_trace(content)
    assert str(refusal.value) == said
