"""Quantities as specs write them, and numbers as people read them."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stepgrid.model import units
from stepgrid.model.figures import decimal
from stepgrid.model.units import SIZES, UnitError, quantity
from tests.cases import rows

FAR = st.floats(1e-6, 1e12)


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
def test_quantities(text, kind, number):
    assert units.quantity(text, kind) == number


@pytest.mark.parametrize(("text", "kind", "message"), rows(__file__, "what_is_no_quantity"))
def test_what_is_no_quantity(text, kind, message):
    with pytest.raises(UnitError) as caught:
        units.quantity(text, kind)
    assert str(caught.value) == message


@given(st.integers(0, 2**40))
def test_whole_numbers_are_exact(number):
    assert units.quantity(str(number), "count") == number
    assert units.quantity(f"{number}KiB", "size") == number * 1024
    assert units.quantity(f"{number}M", "count") == number * 10**6


def _read(text, kind):
    try:
        return units.quantity(text, kind)
    except UnitError as error:
        return str(error)


@given(st.text(max_size=8), st.sampled_from(["count", "size", "rate", "duration"]))
def test_any_text_is_a_quantity_or_a_sentence(text, kind):
    found = _read(text, kind)
    assert isinstance(found, int | float) or str(found).startswith("expected a ")


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.08, 1.16, "[1.08, 1.16]"),
        (0.05, 40.0, "[0.05, 40.00]"),
        (1e-48, 1.75e48, "[unbounded]"),
        (0.0, 1.75e48, "[unbounded]"),
        (1.5, 1.75e48, "[1.50, unbounded]"),  # faster, however much
        (1e-48, 0.7, "[0.00, 0.70]"),
    ],
)
def test_an_interval_that_says_nothing_is_unbounded(low, high, text):
    assert units.ratio_interval(low, high) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(5.0, "", "5"), (5.04, "", "5.04"), (0.0, "", "0"), (0.00001, "", "1e-05"), (54321.4, "µs", "54,321"),
     (12345.0, "B", "12.06 KiB")],
)  # fmt: skip
def test_a_whole_number_has_no_decimals_and_bytes_have_their_unit(value, unit, text):
    assert units.figure(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (500, "500 B"), (1536, "1.5 KiB"), (1016 * 1024, "1016 KiB"), (90 * 2**30, "90 GiB"),
     (2**41, "2 TiB"), (2**60, "1 EiB"), (1.2 * 2**20, "1.2 MiB"), (-3 * 2**20, "-3 MiB")],
)  # fmt: skip
def test_a_size(value, text):
    assert units.size(value) == text


@given(st.integers(1024, 2**49))
def test_a_size_reads_back_to_four_digits(value):
    number, unit = units.size(value).split(" ")
    assert float(number) * SIZES[unit] == pytest.approx(value, rel=5.1e-4)


@given(st.integers(1, 2**50 - 1))
def test_an_exact_size_is_that_number(value):
    assert quantity(units.exact_size(value).replace(" ", ""), "size") == value


@given(FAR, FAR)
def test_a_ratio_to_a_base_is_that_of_the_quotient(value, base):
    assert units.ratio_to(value, base) == units.ratio(value / base)


def test_of_two_zeros_the_ratio_is_1_and_of_one_infinite():
    assert units.ratio_to(0, 0) == "1"
    assert units.ratio_to(0.001, 0) == "inf"
    assert units.ratio_to(0, 0.001) == "0.00"
    assert units.quotient(2, 0) == math.inf


@pytest.mark.parametrize(
    ("value", "text"), [(1.224, "1.22"), (99.99, "99.99"), (100.4, "100"), (1043.2, "1,043"), (math.inf, "inf")]
)
def test_a_ratio(value, text):
    assert units.ratio(value) == text


@pytest.mark.parametrize(
    ("qps", "text"),
    [(0, "0"), (812, "812"), (999.6, "1.0k"), (1234, "1.2k"), (54321, "54k"), (999_600, "1.0M"), (12_345_678, "12M")],
)
def test_short_rates(qps, text):
    assert units.short_rate(qps) == text


@pytest.mark.parametrize(
    ("ratio", "low", "high", "text"),
    [
        (1.12, 1.08, 1.16, "1.12 [1.08, 1.16]"),
        (0.98, 0.976, 0.984, "0.980 [0.976, 0.984]"),
        (1.0, 0.997, 1.003, "1.000 [0.997, 1.003]"),
        (1.02, 1.004, 1.036, "1.020 [1.004, 1.036]"),  # 1.00 would be an end that is not there
        (0.07, 0.0698, 0.0702, "0.0700 [0.0698, 0.0702]"),
        (7e-5, 6.9e-5, 7.1e-5, "7e-05 [6.9e-05, 7.1e-05]"),
        (1e-300, 9.99e-301, 1.01e-300, "1.00e-300 [9.99e-301, 1.01e-300]"),
        (1e297, 9.99e296, 1.001e297, "1e+297 [9.99e+296, 1e+297]"),
        (250.0, 249.9, 250.1, "250.0 [249.9, 250.1]"),
    ],
)
def test_an_interval_has_as_many_digits_as_tell_its_ends_apart(ratio, low, high, text):
    assert units.ratio_with_interval(ratio, low, high) == text


@given(st.floats(-290, 290), st.floats(1.0005, 900))
def test_ends_that_differ_are_told_apart_whatever_their_size(power, width):
    low = 10.0**power
    high = low * width
    assume(min(abs(low - 1), abs(high - 1)) > 1e-9)  # an end that no digits tell from 1
    text = units.ratio_interval(low, high)
    ends = text.strip("[]").split(", ")
    assert len(ends) == 2
    assert ends[0] != ends[1]
    assert "1.00" not in ends or low <= 1 <= high


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (999.4, "B", "999 B"),
        (999.9, "B", "999.9 B"),
        (float("inf"), "B", "inf B"),
        (float("inf"), "", "inf"),
        (999.4e9, "", "999B"),
        (999.9e9, "", "1e+12"),
        (3e15, "", "3e+15"),
    ],
)
def test_figures_at_the_end_of_their_units(value, unit, text):
    assert units.short_figure(value, unit) == text


@pytest.mark.parametrize(("text", "value"), [("12", 12.0), (" 1.5e3 ", 1500.0), (".5", 0.5), ("-5", -5.0), ("7.", 7.0)])
def test_a_decimal_number(text, value):
    assert decimal(text) == value


@pytest.mark.parametrize(
    "text", ["1_0", "\u0661\u0662", "\uff11\uff12", "nan", "inf", "0x10", "", "1,000", "1e", "--5"]
)
def test_all_else_is_none(text):
    assert math.isnan(decimal(text))


@pytest.mark.parametrize(("text", "value"), [("1_000", 1000), ("1_0MiB", 10 << 20), ("0_", None), ("1__0", None)])
def test_underscores_stand_between_digits(text, value):
    assert units.number(text) == value
