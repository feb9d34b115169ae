"""Levels of seconds and along a ladder: found where they are, and nowhere else, by simulation."""

import math

import numpy as np
import pytest

from stepgrid_answers.levels import changes, two_levels, two_levels_of_loads

TRIES, EFFECT, ALPHA = 300, 0.02, 0.05


def grid(chance, versions, loads, noise, blocks=0.0, **steps):
    """`at4=0.95`: from the fourth version on."""
    level = np.zeros(versions)
    for name, ratio in steps.items():
        level[int(name[2:]) :] += math.log(ratio)
    return level[:, None] + chance.normal(0, noise, (versions, loads)) + chance.normal(0, blocks, loads)


def found(**said):
    chance = np.random.default_rng(21)
    shape = {"versions": 13, "loads": 3, "noise": 0.01, **said}
    versions, loads = int(shape.pop("versions")), int(shape.pop("loads"))
    grids = (grid(chance, versions, loads, **shape) for _ in range(TRIES))
    return [tuple(each.at for each in changes(one, EFFECT, ALPHA)) for one in grids]


@pytest.mark.parametrize(("versions", "loads", "noise"), [(3, 2, 0.03), (6, 3, 0.03), (13, 3, 0.01), (13, 5, 0.05)])
def test_equal_versions_have_no_change(versions, loads, noise):
    assert sum(map(bool, found(versions=versions, loads=loads, noise=noise))) <= ALPHA / 2 * TRIES


@pytest.mark.parametrize("blocks", [0.0, 0.05])
def test_five_percent_is_found_where_it_is(blocks):
    assert found(at6=0.95, blocks=blocks).count((6,)) >= 0.98 * TRIES
    assert found(at4=0.95, at9=1.08, blocks=blocks).count((4, 9)) >= 0.98 * TRIES


def test_what_is_within_the_smallest_effect_is_no_change():
    assert found(at6=0.99, noise=0.001) == [()] * TRIES


def test_a_load_that_a_version_lacks_is_no_change_of_it():
    """Its loads were faster than the others by a tenth."""
    whole = grid(np.random.default_rng(3), 8, 4, 0.002)
    whole[:, 3] += 0.1
    whole[5, 3] = np.nan
    assert changes(whole, EFFECT, ALPHA) == []
    whole[6:] -= 0.05
    (found,) = changes(whole, EFFECT, ALPHA)
    assert (found.at, found.before, found.verdict) == (6, 0, "slower")
    assert found.low < math.exp(-0.05) < found.high


def test_nothing_tells_the_noise_of_one_load():
    assert changes(np.array([[0.0], [1.0], [2.0]]), EFFECT, ALPHA) is None
    assert changes(np.array([[0.0, math.nan], [1.0, math.nan], [2.0, 2.1]]), EFFECT, ALPHA) is None


def test_days_of_their_own_have_the_noise_of_days():
    """Loads of a day agree; the days do not."""
    chance = np.random.default_rng(8)

    def found(size, step):
        level = np.where(np.arange(12) < 7, 0.0, math.log(step)) + chance.normal(0, size, 12)
        days = level[:, None] + chance.normal(0, 0.001, (12, 3))
        return [change.at for change in changes(days, EFFECT, ALPHA, is_apart=True)]

    assert sum(bool(found(0.05, 1.0)) for _ in range(TRIES)) <= ALPHA / 2 * TRIES
    assert sum(found(0.01, 0.9) == [7] for _ in range(TRIES)) >= 0.95 * TRIES
    assert changes(np.zeros((5, 3)), EFFECT, ALPHA, is_apart=True) is None
    coarse = np.log([[0.009]] * 9 + [[0.010], [0.009], [0.010], [0.010]])
    assert changes(coarse, EFFECT, ALPHA, is_apart=True) == [], "a clock of 1 ms"


def test_noise_has_no_two_levels():
    """Of 1,000 series of each kind; a process that changes between two speeds is told in all but a few."""
    generator = np.random.default_rng(1)
    noises = [
        *(np.maximum(generator.normal(1, deviation, (1000, 60)), 0.01) for deviation in (0.05, 0.2, 0.4)),
        generator.lognormal(0, 0.5, (1000, 60)),
        np.linspace(0.3, 1.7, 60) * generator.normal(1, 0.05, (1000, 60)),
    ]
    assert [sum(two_levels(row) is not None for row in rows) for rows in noises] == [0, 0, 0, 0, 0]
    speeds = np.where(generator.random((300, 60)) < 0.4, 0.16, 1.0) * generator.normal(1, 0.1, (300, 60))
    assert sum(two_levels(row) is not None for row in speeds) >= 290
    loads = generator.normal(1, 0.1, (1000, 5))
    assert sum(two_levels_of_loads(row.tolist()) is not None for row in loads) <= 1
