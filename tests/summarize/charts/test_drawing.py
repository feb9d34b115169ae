"""Scales of charts: round ticks within them, and pixels in the order of the values."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model import units
from stepgrid.summarize.charts import drawing

MIB = 1024**2
VALUES = st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=20)


@given(VALUES, st.booleans())
def test_a_scale_holds_its_values_and_its_ticks(values: list[float], from_zero: bool) -> None:
    found = drawing.scale(values, 10.0, 310.0, from_zero)
    places = [found(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(10 <= place <= 310 for place in places)
    assert all(found.low <= tick * (1 + 1e-9) and tick <= found.high * (1 + 1e-9) for tick in found.ticks)
    assert len(found.ticks) <= 12


def test_ticks_are_round() -> None:
    assert drawing.scale([900.0], 0, 1, from_zero=True).ticks == [0, 500]
    assert [round(tick, 9) for tick in drawing.scale([3.0, 250.0], 0, 1).ticks] == [5, 10, 20, 50, 100, 200]


def test_ticks_of_sizes_are_round_in_their_unit() -> None:
    linear = drawing.scale([37.5 * MIB, 41.5 * MIB], 0, 1).size_ticks
    assert [units.size(tick) for tick in linear] == ["38 MiB", "40 MiB"]
    powers = drawing.scale([30 * MIB, 2000 * MIB], 0, 1).size_ticks
    assert [units.size(tick) for tick in powers] == ["32 MiB", "128 MiB", "512 MiB", "2 GiB"]


@given(VALUES)
def test_a_scale_holds_its_ticks_of_sizes(values: list[float]) -> None:
    found = drawing.scale(values, 10.0, 310.0)
    assert all(found.low * (1 - 1e-9) <= tick <= found.high * (1 + 1e-9) for tick in found.size_ticks)
    assert 0 < len(found.size_ticks) <= 7


def test_what_differs_much_is_on_a_logarithmic_scale() -> None:
    assert drawing.scale([1.0, 8.0], 0, 1).log
    assert not drawing.scale([1.0, 7.0], 0, 1).log
    assert not drawing.scale([0.0, 8.0], 0, 1).log
    assert math.isclose(drawing.scale([0.0, 100.0], 0, 1, from_zero=True)(0.0), 0)
