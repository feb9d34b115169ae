"""What a claim's expression says, as a tree: figures and numbers, arithmetic, comparisons, and, or, not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from stepgrid.errors import StepgridError

Argument: TypeAlias = "str | int | float | bool"

WHAT = "a claim is made of figures and numbers, + - * / **, comparisons, and, or, not"
COMPARISONS = {"gt": ">", "gteq": ">=", "lt": "<", "lteq": "<=", "eq": "==", "ne": "!="}
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Pow": "**"}


class ClaimError(StepgridError):
    """An expression that is no claim."""


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class Figure:
    metric: str
    labels: tuple[tuple[str, Argument], ...]  # axis -> what its label must be


@dataclass(frozen=True, slots=True)
class Arithmetic:
    sign: str
    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Comparison:
    sign: str
    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Junction:
    """All of its parts (`and`), or any of them (`or`)."""

    all: bool
    parts: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    part: Statement


Value: TypeAlias = "Number | Figure | Arithmetic"
Statement: TypeAlias = "Comparison | Junction | Negation"


def parsed(expect: str) -> Statement:
    """ExpressionError where it cannot be read, Unclear where it is no claim."""
    from jinja2 import nodes

    from stepgrid.language.expressions import find_nodes

    return _statement(find_nodes(expect, nodes.Output)[0][0].nodes[0])


def comparisons(statement: Statement) -> Iterator[Comparison]:
    match statement:
        case Comparison():
            yield statement
        case Junction(parts=parts):
            for part in parts:
                yield from comparisons(part)
        case Negation(part=part):
            yield from comparisons(part)


def figures(value: Value) -> Iterator[Figure]:
    match value:
        case Figure():
            yield value
        case Arithmetic(left=left, right=right):
            yield from figures(left)
            yield from figures(right)


def calculated(value: Value, known: Mapping[Figure, float]) -> float:
    """ArithmeticError where it has no value."""
    match value:
        case Number(value=number):
            return number
        case Figure():
            return known[value]
        case Arithmetic(sign=sign, left=left, right=right):
            return _applied(sign, calculated(left, known), calculated(right, known))


def _applied(sign: str, left: float, right: float) -> float:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
    found = left**right
    if isinstance(found, complex):
        raise ArithmeticError("a root of what is negative")
    return float(found)


def _statement(node: Any) -> Statement:
    kind = type(node).__name__
    if kind in ("And", "Or"):
        return Junction(kind == "And", (_statement(node.left), _statement(node.right)))
    if kind == "Not":
        return Negation(_statement(node.node))
    if kind != "Compare" or any(each.op not in COMPARISONS for each in node.ops):
        raise ClaimError(WHAT)
    return _compared(node)


def _compared(node: Any) -> Statement:
    """1 < a < 2 is 1 < a and a < 2."""
    values = [_value(node.expr), *(_value(each.expr) for each in node.ops)]
    signs = [COMPARISONS[each.op] for each in node.ops]
    found = tuple(Comparison(sign, values[at], values[at + 1]) for at, sign in enumerate(signs))
    return found[0] if len(found) == 1 else Junction(True, found)


def _value(node: Any) -> Value:
    kind = type(node).__name__
    if kind == "Const" and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return Number(float(node.value))
    if kind in ("Neg", "Pos"):
        return Arithmetic("*", Number(-1.0 if kind == "Neg" else 1.0), _value(node.node))
    if kind in _ARITHMETIC:
        return Arithmetic(_ARITHMETIC[kind], _value(node.left), _value(node.right))
    if kind == "Call" and type(node.node).__name__ == "Name":
        return Figure(node.node.name, tuple((each.key, _argument(each.value)) for each in node.kwargs))
    raise ClaimError(WHAT)


def _argument(node: Any) -> Argument:
    value = getattr(node, "value", None)
    if not isinstance(value, str | int | float):
        raise ClaimError("the label of a figure is text or a number")
    return value
