from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.cli.status.sparkline import BLOCKS, PLAIN, Spark, spark


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
    found = spark(values, width)
    assert found == expected


def test_nothing_of_nothing() -> None:
    assert spark([], 10) is None
    assert spark([1.0], 0) is None


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=400), st.integers(1, 200))
def test_it_fits_and_its_largest_is_the_highest_block(values: list[float], width: int) -> None:
    found = spark(values, width, PLAIN)
    assert found is not None
    assert 1 <= len(found.text) <= width
    assert found.used <= len(values)
    assert found.most == max(values[len(values) - found.used :])
    assert set(found.text) <= {*PLAIN, " "}
    assert max(values) == 0 or found.most == 0 or PLAIN[-1] in found.text
    assert len(BLOCKS) == len(PLAIN)
