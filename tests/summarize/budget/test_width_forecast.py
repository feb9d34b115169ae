from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.budget.width_forecast import NoiseParts, WidthForecast, best, forecast
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.confidence_intervals import intervals, sample
from stepgrid.summarize.statistics.timeseries import Relative
from tests.summarize import made
from tests.summarize.statistics.test_stopping_rule import interval

LEVELS = (1000.0, 1015.0, 990.0, 1004.0)


def point(arm: str, runs: int = 1) -> Point:
    """Runs of a load lie 1 % apart."""
    factor = 1.1 if arm == "fast" else 1.0
    return made.point(
        *(
            replace(made.run(arm, load, rate * factor * 1.01**run, run), run=run)
            for load, rate in enumerate(LEVELS if arm == "base" else reversed(LEVELS))
            for run in range(runs)
        )
    )


def made_forecast(runs: int = 1, error: float | None = None) -> WidthForecast:
    arm, base = point("fast", runs), point("base", runs)
    [found] = intervals([sample(arm.values(), base.values())])
    assert found is not None
    seconds = {run.place: Relative(1000.0, error, 9) for run in (*arm.runs, *base.runs)} if error else {}
    return forecast("readww", found, arm, base, seconds)


def test_as_it_is_it_is_what_the_interval_says() -> None:
    found = made_forecast()
    assert found.width(4, 1, 1.0) == pytest.approx(found.interval.high / found.interval.ratio - 1)


def test_without_runs_or_seconds_all_noise_is_between_loads() -> None:
    found = made_forecast()
    assert (found.parts.runs, found.parts.series) == (0, 0)
    assert found.width(4, 5, 4.0) == found.width(4, 1, 1.0)


def test_runs_and_seconds_have_their_parts() -> None:
    found = made_forecast(2, 0.002)
    whole = (found.interval.error or 0.0) ** 2 * 4
    assert found.parts.series == pytest.approx(2 * 0.002**2)
    assert found.parts.runs == pytest.approx(2 * (math.log(1.01) ** 2 / 2 - 0.002**2))
    assert found.parts.of(2, 1.0) == pytest.approx(whole)
    assert found.width(4, 8, 1.0) < found.width(4, 2, 4.0) < found.width(4, 2, 1.0)


def test_a_part_is_no_larger_than_the_whole() -> None:
    found = made_forecast(1, 0.5)
    assert found.parts.loads == 0
    assert found.parts.of(1, 1.0) == pytest.approx((found.interval.error or 0.0) ** 2 * 4)


@given(st.integers(2, 60), st.integers(1, 9), st.sampled_from((0.5, 1.0, 2.0)))
def test_more_loads_and_runs_are_never_wider(loads: int, runs: int, longer: float) -> None:
    found = WidthForecast("s", interval(1.0, 0.01, loads=4, freedom=5), NoiseParts(1e-4, 1e-4, 2e-4))
    assert found.width(loads + 1, runs, longer) < found.width(loads, runs, longer)
    assert found.width(loads, runs + 1, longer) < found.width(loads, runs, longer)
    assert found.difference(loads, runs, longer, 0.02) > found.width(loads, runs, longer) + 0.02


def test_a_difference_that_is_found_has_its_interval_beyond_the_smallest_effect() -> None:
    """With many degrees of freedom: 1.96 standard errors for the interval, 0.84 to be found 4 times in 5."""
    found = WidthForecast("s", interval(1.0, 0.01, loads=4, freedom=1e6, reach=1.96), NoiseParts(4e-4))
    assert math.log1p(found.difference(4, 1, 1.0, 0.02)) == pytest.approx(math.log1p(0.02) + 0.028, abs=1e-4)


def test_the_best_are_those_that_no_other_beats() -> None:
    assert best([(10.0, 0.02), (5.0, 0.03), (10.0, 0.03), (4.0, 0.05), (12.0, 0.02)]) == [0, 1, 3]
