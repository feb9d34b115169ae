from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.cli.watch import BLOCKS, PLAIN_BLOCKS, Spark, sparkline


@pytest.mark.parametrize(
    ("values", "width", "expected"),
    [
        ([1, 2, 4, 8], 10, Spark("▂▃▅█", 1, 8, 4)),
        ([8, 0, 8], 10, Spark("█ █", 0, 8, 3)),  # a stall is a gap
        ([0, 0], 10, Spark("▁▁", 0, 0, 2)),
        ([9, 1, 3, 5, 7], 3, Spark("▃█", 1, 7, 4)),  # two in a column; the oldest has no partner
    ],
)
def test_from_zero_to_the_largest(values: list[float], width: int, expected: Spark) -> None:
    found = sparkline(values, width)
    assert found == expected


def test_nothing_of_nothing() -> None:
    assert sparkline([], 10) is None
    assert sparkline([1.0], 0) is None


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=400), st.integers(1, 200))
def test_it_fits_and_its_largest_is_the_highest_block(values: list[float], width: int) -> None:
    found = sparkline(values, width, PLAIN_BLOCKS)
    assert found is not None
    assert 1 <= len(found.text) <= width
    assert found.used <= len(values)
    assert found.most == max(values[len(values) - found.used :])
    assert set(found.text) <= {*PLAIN_BLOCKS, " "}
    assert max(values) == 0 or found.most == 0 or PLAIN_BLOCKS[-1] in found.text
    assert len(BLOCKS) == len(PLAIN_BLOCKS)
