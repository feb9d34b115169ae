import numpy as np
import pytest

from stepgrid.collect.series import dips, series_figures


def points(rates, interval=1):
    return [(float(interval * (index + 1)), float(rate)) for index, rate in enumerate(rates)]


def test_variance_against_numpy():
    rates = [100, 110, 90, 100, 40, 5]
    assert series_figures(points(rates)).metrics == {
        "qps_variation_pct": pytest.approx(100 * np.std(rates, ddof=1) / np.mean(rates)),
        "slow_seconds_pct": pytest.approx(100 * 2 / 6),
        "stalled_seconds_pct": pytest.approx(100 / 6),
        "worst_qps_p99": 5.0,
    }


def test_the_p99_is_what_ninety_nine_in_a_hundred_reach():
    assert series_figures(points(range(1, 201))).metrics["worst_qps_p99"] == 2.0


def test_slow_seconds_that_follow_each_other_are_one_dip():
    assert dips(points([100, 40, 30, 100, 100, 49, 100])) == [(1.0, 3.0), (5.0, 6.0)]
    assert dips(points([100, 50, 100])) == dips([]) == []


def test_the_steady_part():
    found = series_figures(points([500] * 50 + [1000, 1001] * 100)).metrics
    assert (found["steady_from_s"], found["steady_qps"]) == (50.0, 1000.5)
    assert abs(found["steady_change_pct"]) < 0.1


def test_seconds_are_those_of_the_series_not_its_points():
    assert series_figures(points([500] * 50 + [1000, 1001] * 100, interval=5)).metrics["steady_from_s"] == 250.0


def test_without_a_steady_state_there_is_no_such_figure_and_a_warning():
    falling = points(np.linspace(1000, 500, 120))
    found = series_figures(falling).metrics
    assert found["steady_change_pct"] == pytest.approx(-29, abs=1)
    assert not {"steady_from_s", "steady_qps"} & found.keys()
    assert series_figures(falling).warnings == ["no steady state: QPS fell by 23 % in the last 40s"]
