import pytest

from stepgrid.language.expressions.evaluator import ExpressionError, evaluate, references, render
from stepgrid.language.version import Version


def test_a_whole_expression_keeps_its_type() -> None:
    assert render("{{ a // 2 }}", {"a": 5}) == 2
    assert render("v{{ a }}", {"a": Version("9.10")}) == "v9.10"
    assert render("{{ a }}", {"a": Version("9.10")}) == "9.10"
    assert isinstance(render("{{ a }}", {"a": "9.10"}), str)


@pytest.mark.parametrize(
    ("expression", "message", "name"),
    [
        ("cach == 'lru'", "`cach` is not defined", "cach"),
        ("a ==", "`a ==` is not an expression: it ends too early", ""),
        ("1 // 0", "`1 // 0` has no value: a division by zero", ""),
        ("a.b", "`a.b` is not defined", "b"),
    ],
)
def test_faults_are_sentences(expression: str, message: str, name: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, {"a": 1})
    assert (str(caught.value), caught.value.name) == (message, name)


def test_the_sandbox_holds() -> None:
    with pytest.raises(ExpressionError):
        evaluate("''.__class__.__mro__[1].__subclasses__()", {})


def test_references() -> None:
    assert references("{{ params.keys // params.threads }}") == {("params", "keys"), ("params", "threads")}
    assert references("options.x == 'params.y'") == {("options", "x")}
