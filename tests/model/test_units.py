import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model import units
from stepgrid.model.units import UnitError


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("100M", "count", 100_000_000),
        ("200k", "count", 200_000),
        ("2B", "count", 2_000_000_000),
        ("1.5M", "count", 1_500_000),
        ("1_000", "count", 1000),
        ("8KiB", "size", 8192),
        ("1.5GiB", "size", 3 * 2**29),
        ("4096", "size", 4096),
        ("2MiB", "rate", 2_097_152),
        ("2MiB/s", "rate", 2_097_152),
        ("30m", "duration", 1800.0),
        ("2.5%", "percent", 2.5),
        ("5", "percent", 5.0),
        ("1.5h", "duration", 5400.0),
        ("250ms", "duration", 0.25),
    ],
)
def test_quantities(text: str, kind: str, number: float) -> None:
    assert units.quantity(text, kind) == number


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("2MB", "size", "expected a size such as 4096, 8KiB, 16MiB or 1GiB, found `2MB`: sizes are KiB, MiB, GiB only"),
        ("30", "duration", "expected a duration such as 30s, 30m or 2h, found `30`: say the unit"),
        ("8KiB", "count", "expected a count such as 1000, 200k, 100M or 2B, found `8KiB`"),
        ("1.5", "count", "expected a count such as 1000, 200k, 100M or 2B, found `1.5`: not a whole number"),
        ("500 %", "percent", "expected a percentage such as 5 or 2.5%, found `500 %`: too large (at most 100)"),
        ("fast", "rate", "expected a rate per second such as 2MiB or 1000000, found `fast`"),
    ],
)
def test_what_is_no_quantity(text: str, kind: str, message: str) -> None:
    with pytest.raises(UnitError) as caught:
        units.quantity(text, kind)
    assert str(caught.value) == message


@given(st.integers(0, 2**40))
def test_whole_numbers_are_exact(number: int) -> None:
    assert units.quantity(str(number), "count") == number
    assert units.quantity(f"{number}KiB", "size") == number * 1024
    assert units.quantity(f"{number}M", "count") == number * 10**6


def _read(text: str, kind: str) -> object:
    try:
        return units.quantity(text, kind)
    except UnitError as error:
        return str(error)


@given(st.text(max_size=8), st.sampled_from(["count", "size", "rate", "duration"]))
def test_any_text_is_a_quantity_or_a_sentence(text: str, kind: str) -> None:
    found = _read(text, kind)
    assert isinstance(found, int | float) or str(found).startswith("expected a ")
