from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.plan import MOST_LOADS
from stepgrid.summarize.budget import Costs, NoiseParts, WidthForecast, choices, forecast
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.confidence_intervals import intervals, sample
from stepgrid.summarize.statistics.time_series import Relative
from tests.summarize import made
from tests.summarize.statistics.test_verdicts import interval

LEVELS = (1000.0, 1015.0, 990.0, 1004.0)
PRICE = Costs(load=100.0, run=20.0, timed=10.0, loads=3, runs=1, forks=True, bytes=2**30)
NOISY = WidthForecast("noisy", interval(1.0, 0.02, loads=3, freedom=8), NoiseParts(4e-4, 4e-4, 4e-4))
QUIET = WidthForecast("quiet", interval(1.0, 0.01, loads=3, freedom=8), NoiseParts(1e-4, 1e-4, 1e-4))


def point(arm: str, runs: int = 1) -> Point:
    """Runs of a load lie 1 % apart."""
    factor = 1.1 if arm == "fast" else 1.0
    levels = enumerate(LEVELS if arm == "base" else reversed(LEVELS))
    return made.point(
        *(
            replace(made.run(arm, load, rate * factor * 1.01**run, run), run=run)
            for load, rate in levels
            for run in range(runs)
        )
    )


def made_forecast(runs: int = 1, error: float | None = None) -> WidthForecast:
    arm, base = point("fast", runs), point("base", runs)
    [interval] = intervals([sample(arm.values(), base.values())])
    assert interval is not None
    seconds = {run.place: Relative(1000.0, error, 9) for run in (*arm.runs, *base.runs)} if error else {}
    return forecast("readww", interval, arm, base, seconds)


def test_todays_design_has_todays_width() -> None:
    forecast = made_forecast()
    assert forecast.width(4, 1, 1.0) == pytest.approx(forecast.interval.high / forecast.interval.ratio - 1)
    assert (forecast.parts.runs, forecast.parts.series) == (0, 0)
    assert forecast.width(4, 5, 4.0) == forecast.width(4, 1, 1.0), "without runs and seconds, loads have all noise"


def test_runs_and_seconds_have_their_parts() -> None:
    forecast = made_forecast(2, 0.002)
    whole = (forecast.interval.deviation or 0.0) ** 2
    assert forecast.parts.series == pytest.approx(2 * 0.002**2)
    assert forecast.parts.runs == pytest.approx(2 * (math.log(1.01) ** 2 / 2 - 0.002**2))
    assert forecast.parts.variance(2, 1.0) == pytest.approx(whole)
    assert forecast.width(4, 8, 1.0) < forecast.width(4, 2, 4.0) < forecast.width(4, 2, 1.0)
    assert made_forecast(1, 0.5).parts.loads == 0, "no part is larger than the whole"


@given(st.integers(2, 60), st.integers(1, 9), st.sampled_from((0.5, 1.0, 2.0)))
def test_more_loads_and_runs_are_never_wider(loads: int, runs: int, longer: float) -> None:
    forecast = WidthForecast("s", interval(1.0, 0.01, loads=4, freedom=5), NoiseParts(1e-4, 1e-4, 2e-4))
    assert forecast.width(loads + 1, runs, longer) < forecast.width(loads, runs, longer)
    assert forecast.width(loads, runs + 1, longer) < forecast.width(loads, runs, longer)
    assert forecast.difference(loads, runs, longer, 0.02) > forecast.width(loads, runs, longer) + 0.02


def test_a_difference_with_a_verdict_has_its_interval_beyond_the_smallest_effect() -> None:
    """With many degrees of freedom: 1.96 standard errors for the interval, 0.84 for 4 times in 5."""
    forecast = WidthForecast("s", interval(1.0, 0.01, loads=4, freedom=1e6, critical=1.96), NoiseParts(4e-4))
    assert math.log1p(forecast.difference(4, 1, 1.0, 0.02)) == pytest.approx(math.log1p(0.02) + 0.028, abs=1e-4)


def test_measured_loads_cost_nothing() -> None:
    assert PRICE.remaining(3, 1, 1.0) == 0
    assert PRICE.remaining(5, 1, 1.0) == 2 * 120
    assert PRICE.remaining(3, 3, 1.0) == 3 * 2 * 20
    assert PRICE.remaining(5, 2, 1.0) == 2 * 100 + (10 - 3) * 20
    assert PRICE.added_bytes(5) == 2 * 2**30
    assert Costs(1, 1, 0, 3, 1, False).added_bytes(5) is None


def test_runs_of_another_duration_are_measured_anew_and_loads_are_not() -> None:
    assert PRICE.remaining(3, 1, 2.0) == 3 * 30
    assert PRICE.remaining(4, 2, 0.5) == 100 + 8 * 15


def test_choices_fit_and_the_narrowest_comes_first() -> None:
    table = choices([NOISY, QUIET], PRICE, 1200.0, 0.02)
    assert all(choice.seconds <= 1200 for choice in table)
    assert [choice.noisiest for choice in table] == sorted(choice.noisiest for choice in table)
    assert [choice.seconds for choice in table] == sorted({choice.seconds for choice in table}, reverse=True)
    assert all(choice.typical < choice.noisiest < choice.difference for choice in table)


def test_neither_runs_without_a_checkpoint_nor_a_length_without_a_duration_are_choices() -> None:
    price = Costs(load=0.0, run=60.0, timed=0.0, loads=3, runs=1, forks=False)
    assert {(choice.runs, choice.longer) for choice in choices([NOISY], price, 600.0, 0.02)} == {(1, 1.0)}


def test_a_budget_that_is_too_small_or_too_large() -> None:
    price = Costs(load=0.0, run=60.0, timed=60.0, loads=0, runs=1, forks=False)
    assert choices([NOISY], price, 10.0, 0.02) == []
    assert max(choice.loads for choice in choices([NOISY], PRICE, 1e9, 0.02)) == MOST_LOADS
