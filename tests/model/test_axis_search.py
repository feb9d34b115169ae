"""Searches on an axis against curves that are known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.axis_search import (
    CLOSE,
    KNEE,
    AxisSearch,
    Trial,
    boundary,
    knee,
    next_boundary,
    next_peak,
    peak,
)

MIB = 2**20


def bounded(least: int, most: int, points: int, limit: float) -> list[Trial]:
    trials: list[Trial] = []
    for _ in range(points):
        value = next_boundary(least, most, trials)
        trials.append(Trial(value, value <= limit, float(value)))
    return trials


@given(st.integers(1, 1000), st.integers(2, 10_000), st.floats(0, 1))
def test_a_limit_is_between_what_holds_and_what_fails(least: int, factor: int, place: float):
    most = least * factor
    limit = least * factor**place
    trials = bounded(least, most, 16, limit)
    held, failed = boundary(trials)
    assert held is not None
    assert held <= limit
    assert all(least <= trial.value <= most for trial in trials)
    if failed is None:
        assert held == most
    else:
        assert held < failed
        assert failed > limit
        assert failed / held <= CLOSE or failed - held == 1


def test_from_1_to_512_mib_in_nine_points():
    held, failed = boundary(bounded(MIB, 512 * MIB, 9, 8 * MIB))
    assert 7.6 * MIB < (held or 0) <= 8 * MIB < (failed or 0) < 8.4 * MIB


def test_nothing_holds():
    trials = bounded(10, 1000, 12, 5)
    assert boundary(trials) == (None, 10)
    assert trials[-1].value == 10


def test_what_held_once_and_then_failed_does_not_hold():
    trials = [Trial(10, True, 10.0), Trial(20, True, 20.0), Trial(20, False, 20.0), Trial(40, False, 40.0)]
    assert boundary(trials) == (10, 20)


def test_ends_that_are_close_are_tried_again():
    trials = [Trial(100, True, 100.0), Trial(102, False, 102.0)]
    assert next_boundary(1, 1000, trials) == 100


def climbed(least: int, most: int, points: int, top: float) -> list[Trial]:
    """A curve that rises to `top` and falls from there."""
    trials: list[Trial] = []
    for _ in range(points):
        value = next_peak(least, most, points, trials)
        trials.append(Trial(value, True, 1000.0 / (1 + math.log(value / top) ** 2)))
    return trials


@given(st.floats(1, 64))
def test_a_peak_is_nearly_found(top: float):
    trials = climbed(1, 64, 12, top)
    best = peak(trials)
    assert best is not None
    assert abs(math.log(best.value / top)) <= math.log(1.5)
    assert all(1 <= trial.value <= 64 for trial in trials)


def test_the_ladder_comes_first():
    assert [trial.value for trial in climbed(1, 64, 8, 5)][:5] == [1, 3, 8, 23, 64]


def test_the_knee_is_the_first_value_that_is_nearly_the_best():
    trials = [Trial(value, True, min(value, 10) * 100.0 + value) for value in (1, 4, 9, 10, 16, 64)]
    assert peak(trials) == Trial(64, True, 1064.0)
    assert knee(trials) == 16
    assert knee([Trial(1, False, 5.0)]) is None
    assert KNEE == 0.95


def test_where_a_condition_fails_there_is_no_peak():
    trials = [Trial(1, True, 10.0), Trial(8, True, 40.0), Trial(64, False, 90.0)]
    assert peak(trials) == Trial(8, True, 40.0)


def test_what_a_plan_keeps_of_it():
    search = AxisSearch("rate", "write_rate", 1, 512, "max rate where qps > 1", 9, 3)
    assert AxisSearch.of({"search": search.to_json()}) == search
    assert AxisSearch.of({}) is None
    assert search.group("writes[rate=#3,clients=2]") == "writes[rate=,clients=2]"
    assert search.group("writes[rate=#31]") == "writes[rate=#31]"


@pytest.mark.parametrize("points", range(4, 20))
def test_every_number_of_points(points: int):
    assert len(climbed(1, 3, points, 2)) == points
    assert len(bounded(1, 2, points, 1)) == points
