"""A ladder's changes: found where they are, and none where there are none, by simulation with a fixed seed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.statistics.change_points import Array, changes

TRIES, EFFECT, ALPHA = 300, 0.02, 0.05


def grid(
    chance: np.random.Generator, versions: int, loads: int, noise: float, blocks: float = 0.0, **steps: float
) -> Array:
    """`at4=0.95`: from the fourth version on."""
    level = np.zeros(versions)
    for name, ratio in steps.items():
        level[int(name[2:]) :] += math.log(ratio)
    drawn: Array = level[:, None] + chance.normal(0, noise, (versions, loads)) + chance.normal(0, blocks, loads)
    return drawn


def found(**said: float) -> list[tuple[int, ...]]:
    chance = np.random.default_rng(21)
    shape = {"versions": 13, "loads": 3, "noise": 0.01, **said}
    versions, loads = int(shape.pop("versions")), int(shape.pop("loads"))
    grids = (grid(chance, versions, loads, **shape) for _ in range(TRIES))
    return [tuple(each.at for each in changes(one, EFFECT, ALPHA)) for one in grids]


@pytest.mark.parametrize(("versions", "loads", "noise"), [(3, 2, 0.03), (6, 3, 0.03), (13, 3, 0.01), (13, 5, 0.05)])
def test_equal_versions_have_no_change(versions: int, loads: int, noise: float) -> None:
    assert sum(map(bool, found(versions=versions, loads=loads, noise=noise))) <= ALPHA / 2 * TRIES


@pytest.mark.parametrize("blocks", [0.0, 0.05])
def test_five_percent_is_found_where_it_is(blocks: float) -> None:
    assert found(at6=0.95, blocks=blocks).count((6,)) >= 0.98 * TRIES
    assert found(at4=0.95, at9=1.08, blocks=blocks).count((4, 9)) >= 0.98 * TRIES


def test_what_is_within_the_smallest_effect_is_no_change() -> None:
    assert found(at6=0.99, noise=0.001) == [()] * TRIES


def test_a_load_that_a_version_lacks_is_no_change_of_it() -> None:
    """Its loads were faster than the others by a tenth."""
    whole = grid(np.random.default_rng(3), 8, 4, 0.002)
    whole[:, 3] += 0.1
    whole[5, 3] = np.nan
    assert changes(whole, EFFECT, ALPHA) == []
    whole[6:] -= 0.05
    (found,) = changes(whole, EFFECT, ALPHA)
    assert (found.at, found.before, found.verdict) == (6, 0, "slower")
    assert found.low < math.exp(-0.05) < found.high


def test_nothing_tells_the_noise_of_one_load() -> None:
    assert changes(np.array([[0.0], [1.0], [2.0]]), EFFECT, ALPHA) == []
    assert changes(np.array([[0.0, math.nan], [1.0, math.nan], [2.0, 2.1]]), EFFECT, ALPHA) == []


@given(st.integers(0, 1000), st.floats(-5, 5), st.permutations(range(4)))
def test_neither_the_unit_nor_the_order_of_loads_matters(seed: int, shift: float, order: list[int]) -> None:
    one = grid(np.random.default_rng(seed), 6, 4, 0.01, at3=0.9)
    first, second = changes(one, EFFECT, ALPHA), changes(one[:, order] + shift, EFFECT, ALPHA)
    assert [each.at for each in first] == [each.at for each in second] == [3]
    assert first[0].ratio == pytest.approx(second[0].ratio)
