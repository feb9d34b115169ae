"""Claims as trees."""

from __future__ import annotations

import pytest

from stepgrid.plan.report_check import (
    GRAMMAR,
    ClaimError,
    Comparison,
    Figure,
    Junction,
    Number,
    comparisons,
    evaluate,
    parse_claim,
)


def test_a_ratio() -> None:
    found = parse_claim("qps(cache='best', threads=40) / qps() >= 2.5")
    assert isinstance(found, Comparison)
    assert (found.sign, found.rhs) == (">=", Number(2.5))
    best, plain = Figure("qps", (("cache", "best"), ("threads", 40))), Figure("qps", ())
    assert evaluate(found.lhs, {best: 30.0, plain: 10.0}) == 3


@pytest.mark.parametrize(("expression", "value"), [("1 + 2 * 3", 7), ("2 ** 3", 8), ("(1 - 4) / 2", -1.5), ("+3", 3)])
def test_arithmetic(expression: str, value: float) -> None:
    found = parse_claim(f"{expression} > 0")
    assert isinstance(found, Comparison)
    assert evaluate(found.lhs, {}) == value


def test_a_chain_is_all_of_its_comparisons() -> None:
    found = parse_claim("1 < qps() <= 2 or not p50_us() != 3")
    assert isinstance(found, Junction)
    assert [each.sign for each in comparisons(found)] == ["<", "<=", "!="]


@pytest.mark.parametrize(
    "expression", ["qps()", "qps() > 'a'", "qps()|abs > 1", "1 if qps() else 2", "qps() in [1]", "[qps()] > 1"]
)
def test_no_claim(expression: str) -> None:
    with pytest.raises(ClaimError, match=GRAMMAR.replace("+", r"\+").replace("*", r"\*")):
        parse_claim(expression)
