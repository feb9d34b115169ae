from __future__ import annotations

from stepgrid.model.plan import MOST_LOADS
from stepgrid.summarize.budget.choices import Costs, choices
from stepgrid.summarize.budget.width_forecast import NoiseParts, WidthForecast
from tests.summarize.statistics.test_stopping_rule import interval

PRICE = Costs(load=100.0, run=20.0, timed=10.0, loads=3, runs=1, forks=True, bytes=2**30)
NOISY = WidthForecast("noisy", interval(1.0, 0.02, loads=3, freedom=8), NoiseParts(4e-4, 4e-4, 4e-4))
QUIET = WidthForecast("quiet", interval(1.0, 0.01, loads=3, freedom=8), NoiseParts(1e-4, 1e-4, 1e-4))


def test_what_is_measured_costs_nothing() -> None:
    assert PRICE.left(3, 1, 1.0) == 0
    assert PRICE.left(5, 1, 1.0) == 2 * 120
    assert PRICE.left(3, 3, 1.0) == 3 * 2 * 20
    assert PRICE.left(5, 2, 1.0) == 2 * 100 + (10 - 3) * 20


def test_runs_of_another_duration_are_measured_anew_and_loads_are_not() -> None:
    assert PRICE.left(3, 1, 2.0) == 3 * 30
    assert PRICE.left(4, 2, 0.5) == 100 + 8 * 15


def test_images_are_those_of_the_loads_that_are_added() -> None:
    assert PRICE.added_bytes(5) == 2 * 2**30
    assert Costs(1, 1, 0, 3, 1, False).added_bytes(5) is None


def test_all_of_them_fit_and_the_narrowest_comes_first() -> None:
    found = choices([NOISY, QUIET], PRICE, 1200.0, 0.02)
    assert all(each.seconds <= 1200 for each in found)
    assert [each.noisiest for each in found] == sorted(each.noisiest for each in found)
    assert [each.seconds for each in found] == sorted((each.seconds for each in found), reverse=True)
    assert all(each.typical < each.noisiest < each.difference for each in found)


def test_without_a_checkpoint_runs_are_no_choice_and_without_a_duration_none_is() -> None:
    price = Costs(load=0.0, run=60.0, timed=0.0, loads=3, runs=1, forks=False)
    assert {(each.runs, each.longer) for each in choices([NOISY], price, 600.0, 0.02)} == {(1, 1.0)}


def test_nothing_fits() -> None:
    price = Costs(load=0.0, run=60.0, timed=60.0, loads=0, runs=1, forks=False)
    assert choices([NOISY], price, 10.0, 0.02) == []


def test_there_is_a_most() -> None:
    assert max(each.loads for each in choices([NOISY], PRICE, 1e9, 0.02)) == MOST_LOADS
