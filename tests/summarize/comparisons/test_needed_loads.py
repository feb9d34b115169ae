from __future__ import annotations

import math

from stepgrid.model.plan import MOST_LOADS
from stepgrid.summarize.comparisons.needed_loads import too_wide, wanted
from stepgrid.summarize.statistics.confidence_intervals import Interval


def interval(ratio: float, reach: float, loads: int = 3) -> Interval:
    """`reach`: of its upper end, relative."""
    error = math.log1p(reach) / 4.3
    return Interval(ratio, ratio / (1 + reach), ratio * (1 + reach), loads, error, 2.0)


def test_noisier_ones_need_more() -> None:
    found = [wanted([interval(1.0, reach)]) for reach in (0.05, 0.1, 0.2, 0.4, 1.0)]
    assert found == [5, 9, 27, 84, None]


def test_half_of_them_count() -> None:
    near, far = interval(1.01, 0.05), interval(1.0, 1.0)
    assert wanted([near, near, far]) == 5
    assert wanted([near, far, far]) is None


def test_what_loads_do_not_help() -> None:
    floor, series, wide = interval(1.5, 0.1), Interval(1.0, 0.9, 1.1, 1), interval(1.01, 0.05)
    assert too_wide([floor, series, wide], 0.02) == [wide], "the noise floor, or one load, keeps them from a verdict"
    assert wanted([]) is None
    assert wanted([interval(1.01, 0.05, MOST_LOADS)]) is None


def test_no_more_loads_are_wanted_than_there_are_where_these_do() -> None:
    assert wanted([interval(1.01, 0.02, 5)]) == 5
