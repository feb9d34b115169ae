"""Searches on an axis against curves that are known."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepgrid.expand import search
from stepgrid.language.expressions import ExpressionError

MIB = 2**20


def bounded(least, most, points, limit):
    trials = []
    for _ in range(points):
        value = search.next_boundary(least, most, trials)
        trials.append(search.Trial(value, value <= limit, float(value)))
    return trials


@given(st.integers(1, 1000), st.integers(2, 10_000), st.floats(0, 1))
@example(30, 6319, 0.36328125)  # a value that was rounded up lay above the limit that it stood for
def test_a_limit_is_between_what_holds_and_what_fails(least, factor, place):
    most = least * factor
    limit = least * factor**place
    trials = bounded(least, most, 16, limit)
    held, failed = search.boundary(least, most, trials)
    assert all(least <= trial.value <= most for trial in trials)
    assert held is None or held <= limit
    assert failed is None or failed > limit
    if held is not None and failed is not None:
        assert failed / held < 1.1 or failed - held <= 2


def test_from_1_to_512_mib_in_nine_points():
    held, failed = search.boundary(MIB, 512 * MIB, bounded(MIB, 512 * MIB, 9, 8 * MIB))
    assert 7.2 * MIB < (held or 0) <= 8 * MIB < (failed or 0) < 8.8 * MIB


def test_a_try_that_was_wrong_is_made_good():
    """Of a limit of 500 the first tries say that 100 is too much."""
    trials = [search.Trial(100, False, 100.0)]
    for _ in range(14):
        value = search.next_boundary(1, 1000, trials)
        trials.append(search.Trial(value, value <= 500, float(value)))
    held, failed = search.boundary(1, 1000, trials)
    assert held is not None
    assert failed is not None
    assert 400 < held <= 500 < failed < 600


def test_ends_of_the_range():
    nothing, everything = bounded(10, 1000, 12, 5), bounded(10, 1000, 12, 5000)
    assert search.boundary(10, 1000, nothing) == (None, 10)
    assert search.boundary(10, 1000, everything) == (1000, None)
    assert search.next_boundary(10, 1000, ()) == 99
    assert search.boundary(100, 200, bounded(100, 200, 4, 141)) == (141, 144)  # too near for either to be probable


def climbed(least, most, points, top):
    """A curve that rises to `top` and falls from there."""
    trials = []
    for _ in range(points):
        value = search.next_peak(least, most, points, trials)
        trials.append(search.Trial(value, True, 1000.0 / (1 + math.log(value / top) ** 2)))
    return trials


@given(st.floats(1, 64))
def test_a_peak_is_nearly_found(top):
    trials = climbed(1, 64, 12, top)
    best = search.peak(trials)
    assert abs(math.log(best.value / top)) <= math.log(1.5)
    assert all(1 <= trial.value <= 64 for trial in trials)


def test_the_knee_is_the_first_value_that_is_nearly_the_best_and_a_peak_meets_the_condition():
    trials = [search.Trial(value, True, min(value, 10) * 100.0 + value) for value in (1, 4, 9, 10, 16, 64)]
    assert search.peak(trials) == search.Trial(64, True, 1064.0)
    assert search.knee(trials) == 16
    assert search.knee([search.Trial(1, False, 5.0)]) is None
    assert search.KNEE == 0.95
    trials = [search.Trial(1, True, 10.0), search.Trial(8, True, 40.0), search.Trial(64, False, 90.0)]
    assert search.peak(trials) == search.Trial(8, True, 40.0)


def test_a_figure_alone_and_with_a_condition():
    assert search.parse_objective("max qps") == search.Objective("qps", "")
    assert search.parse_objective("max qps").holds({})
    found = search.parse_objective("max rate where stall_pct < 1 and p99_us < 5000")
    assert found == search.Objective("rate", "stall_pct < 1 and p99_us < 5000")
    assert found.names == {"rate", "stall_pct", "p99_us"}
    assert found.holds({"stall_pct": 0.5, "p99_us": 100.0})
    assert not found.holds({"stall_pct": 0.5, "p99_us": 9000.0})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("qps", "`qps` is not what a search can be for"),
        ("min p99_us", "`min p99_us` is not what a search can be for"),
        ("max qps if x", "`max qps if x` is not what a search can be for"),
        ("max qps where p99_us <", "`p99_us <` is not an expression: it ends too early"),
    ],
)
def test_refused(text, why):
    with pytest.raises(ExpressionError) as caught:
        search.parse_objective(text)
    assert str(caught.value) == why


def test_a_condition_is_true_or_false():
    with pytest.raises(ExpressionError, match="`p99_us` is neither true nor false"):
        search.parse_objective("max qps where p99_us").holds({"p99_us": 1.0})
    with pytest.raises(ExpressionError, match="`p99_us` is not defined"):
        search.parse_objective("max qps where p99_us < 1").holds({})
