import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.comparisons.block_effects import residuals

EFFECTS = st.lists(st.floats(-1, 1), min_size=4, max_size=4)


def grid(rows):
    return {f"c{at}": dict(enumerate(row)) for at, row in enumerate(rows)}


def test_what_the_cells_of_a_block_have_in_common_is_no_noise():
    found = residuals(grid([(1.0, 1.5, 0.9), (7.0, 7.5, 6.9), (3.0, 3.5, 2.9)]))
    assert [each.squares for each in found] == [pytest.approx(0, abs=1e-12)] * 3


def test_of_two_cells_it_is_the_variance_of_their_differences():
    one, other = (0.0, 0.1, 0.3), (0.0, 0.2, -0.1)
    found = residuals(grid([one, other]))
    half = np.var(np.subtract(one, other), ddof=1) / 2
    assert [each.squares / each.freedom for each in found] == [pytest.approx(half)] * 2
    assert sum(each.counted for each in found) == 2


def test_a_cell_alone_in_its_blocks_tells_nothing():
    assert residuals({"a": {0: 1.0, 1: 2.0}, "b": {2: 1.0, 3: 5.0}, "c": {0: 1.0}}) == []


def test_a_lacking_figure_leaves_the_rest():
    rows = grid([(1.0, 1.5, 0.9), (7.0, 7.5, 6.9), (3.0, 3.5, 2.9)])
    del rows["c1"][2]
    found = residuals(rows)
    assert [each.freedom for each in found] == [2, 1, 2]
    assert sum(each.counted for each in found) == pytest.approx(3)
    assert max(each.squares for each in found) == pytest.approx(0, abs=1e-3)


def test_one_disturbed_cell_is_none_of_the_others_noise():
    noise = np.random.default_rng(3).normal(0, 0.01, (5, 3))
    quiet = [each.squares for each in residuals(grid(noise.tolist()))]
    noise[4] += (0.0, 3.0, -3.0)
    *wild, odd = (each.squares for each in residuals(grid(noise.tolist())))
    assert max(wild) < 4 * max(quiet)
    assert odd > 10


@given(EFFECTS, EFFECTS)
def test_neither_what_cells_nor_what_blocks_differ_in_matters(cells, blocks):
    noise = np.random.default_rng(5).normal(0, 0.1, (4, 4))
    moved = noise + np.array(cells)[:, None] + np.array(blocks)
    for one, other in zip(residuals(grid(noise.tolist())), residuals(grid(moved.tolist())), strict=True):
        assert one.squares == pytest.approx(other.squares)
        assert one[1:] == other[1:]


@pytest.mark.parametrize("cells", [2, 3, 5, 9])
def test_its_deviation_is_that_of_a_figure_or_a_little_more(cells):
    generator = np.random.default_rng(cells)
    made = [
        residuals(grid((generator.normal(size=(cells, 5)) + generator.normal(size=(1, 5)) * 5).tolist()))
        for _ in range(400)
    ]
    variance = np.mean([each.squares / each.freedom for groups in made for each in groups])
    assert 0.97 < math.sqrt(variance) < 1.12
