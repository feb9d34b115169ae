"""Figures are decimal numbers in ASCII."""

import math

import pytest

from stepgrid.model.figures import decimal


@pytest.mark.parametrize(("text", "value"), [("12", 12.0), (" 1.5e3 ", 1500.0), (".5", 0.5), ("-5", -5.0), ("7.", 7.0)])
def test_a_decimal_number(text: str, value: float) -> None:
    assert decimal(text) == value


@pytest.mark.parametrize(
    "text", ["1_0", "\u0661\u0662", "\uff11\uff12", "nan", "inf", "0x10", "", "1,000", "1e", "--5"]
)
def test_all_else_is_none(text: str) -> None:
    assert math.isnan(decimal(text))
