"""Proposals of a search, for any grid, tries and prohibitions."""

from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid_investigate.best.proposals import SearchAxis, propose


@settings(max_examples=25, deadline=None)
@given(st.data(), st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=1, max_size=4), st.integers(0, 9))
def test_proposals_are_new_points_of_the_grid_that_are_allowed(data, sizes, seed):
    """Also of a grid that is too large to list, and of one that has fewer points left than are wanted."""
    axes = [SearchAxis(str(at), size, is_ordered) for at, (size, is_ordered) in enumerate(sizes)]
    rows = st.tuples(*(st.integers(0, axis.values - 1) for axis in axes))
    tries = data.draw(st.dictionaries(rows, st.none() | st.floats(-5, 5), max_size=12))
    forbidden, count = data.draw(st.sets(rows, max_size=12)), data.draw(st.integers(0, 8))

    def proposals():
        return propose(axes, tries, count, lambda row: row not in forbidden, seed)

    found = proposals()
    assert proposals() == found
    assert len({*found}) == len(found)
    assert not {*found} & (forbidden | {*tries})
    assert all(0 <= value < axis.values for row in found for value, axis in zip(row, axes, strict=True))
    left = prod(axis.values for axis in axes) - len(forbidden | {*tries})
    assert len(found) == min(count, left)
