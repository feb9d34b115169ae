"""What a search may be for."""

import pytest

from stepgrid.expand.search import Objective, parse_objective
from stepgrid.language.expressions import ExpressionError


def test_a_figure_alone():
    assert parse_objective("max qps") == Objective("qps", "")
    assert parse_objective("max qps").holds({})


def test_with_a_condition():
    found = parse_objective("max rate where stall_pct < 1 and p99_us < 5000")
    assert found == Objective("rate", "stall_pct < 1 and p99_us < 5000")
    assert found.names == {"rate", "stall_pct", "p99_us"}
    assert found.holds({"stall_pct": 0.5, "p99_us": 100.0})
    assert not found.holds({"stall_pct": 0.5, "p99_us": 9000.0})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("qps", "`qps` is not what a search can be for"),
        ("min p99_us", "`min p99_us` is not what a search can be for"),
        ("max qps if x", "`max qps if x` is not what a search can be for"),
        (
            "max qps where p99_us <",
            "`p99_us <` is not an expression: it ends too early",
        ),
    ],
)
def test_refused(text: str, why: str):
    with pytest.raises(ExpressionError) as caught:
        parse_objective(text)
    assert str(caught.value) == why


def test_a_condition_is_true_or_false():
    with pytest.raises(ExpressionError, match="`p99_us` is neither true nor false"):
        parse_objective("max qps where p99_us").holds({"p99_us": 1.0})
    with pytest.raises(ExpressionError, match="`p99_us` is not defined"):
        parse_objective("max qps where p99_us < 1").holds({})
