"""Jinja2's sandbox, with bounds: what a spec says is evaluated at once or not at all, and gives the same each time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import wraps
from typing import Any

from jinja2 import Undefined, nodes
from jinja2.compiler import CodeGenerator
from jinja2.sandbox import SandboxedEnvironment

from stepgrid.language.expressions.budget import BUDGET

MOST_BITS = 1024  # of a whole number
MOST_ITEMS = 10_000  # of a list or a text
FILTERS = frozenset({
    "abs", "capitalize", "count", "d", "default", "first", "float", "int", "items", "join", "last", "length", "list",
    "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round", "select", "selectattr",
    "sort", "string", "sum", "title", "trim", "unique", "upper",
})  # fmt: skip
_OF_TEXT = frozenset({
    "capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdecimal", "isdigit", "islower",
    "isnumeric", "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rpartition",
    "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper",
})  # fmt: skip
METHODS: Mapping[type, frozenset[str]] = {
    str: _OF_TEXT,
    list: frozenset({"count", "index"}),
    tuple: frozenset({"count", "index"}),
    dict: frozenset({"get", "items", "keys", "values"}),
    int: frozenset(),
    float: frozenset({"is_integer"}),
}
_HALF = re.compile("[\ud800-\udfff]")
_CONTEXT = "jinja_pass_arg"  # marks filters whose first argument is Jinja2's own


class _Code(CodeGenerator):
    """`~` joins what has a text that is the same each time."""

    def visit_Concat(self, node: nodes.Concat, frame: Any) -> None:  # noqa: N802 - the visitor calls it so
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class Sandbox(SandboxedEnvironment):
    code_generator_class = _Code
    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, **options: Any) -> None:
        super().__init__(finalize=settled, **options)
        self.globals = {"range": _range}
        self.filters = {name: _paid(self.filters[name]) for name in FILTERS}
        self.filters |= {
            "replace": _replaced,
            "sum": _sum,
            "join": _joined,
            "string": lambda value: str(settled(value)),
        }

    def joined(self, parts: tuple[Any, ...]) -> str:
        return _joined(settled(part) for part in parts)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        kind = next((each for each in METHODS if isinstance(obj, each)), None)
        return kind is not None and attr in METHODS[kind]

    def call(self, context: Any, function: Any, *given: Any, **named: Any) -> Any:
        """`context`, `function` are Jinja2's own."""
        if getattr(function, "__name__", "") == "replace" and isinstance(function.__self__, str):
            return _replaced(function.__self__, *given, **named)
        return _bounded(super().call(context, function, *given, **named))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            _bound_power(left, right)
        elif operator == "*":
            _bound_product(left, right)
        elif operator == "%" and isinstance(left, str):
            raise ValueError("texts have no `%`: `~` joins them")
        return _bounded(super().call_binop(context, operator, left, right))


def _paid(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that pays for each item that it looks at."""
    place = 1 if hasattr(function, _CONTEXT) else 0

    @wraps(function)
    def paid(*given: Any, **named: Any) -> Any:
        values = list(given)
        values[place] = _metered(values[place])
        return _bounded(function(*values, **named))

    return paid


def _metered(value: Any) -> Any:
    if isinstance(value, Undefined):  # which `default` is for
        return value
    if isinstance(value, Sized) or not isinstance(value, Iterable):
        BUDGET.pay(len(value) if isinstance(value, Sized) else 1)
        _plain(value)
        return value
    return _each(value)


def _each(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        BUDGET.pay(1)
        yield value


def _plain(value: Any) -> None:
    """A function's text has its address in memory: another one each time."""
    if callable(value):
        raise TypeError("a function is no value")
    if isinstance(value, str) and _HALF.search(value):
        raise ValueError("half a character is no text")
    if isinstance(value, str) and "\0" in value:
        raise ValueError("no text of a program or a file can hold NUL (U+0000)")


def settled(value: Any) -> Any:
    """A value as it stands in a plan or in a text: what `map` and `select` give is the list of it."""
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    _plain(value)
    if isinstance(value, Iterator):
        value = [settled(each) for each in _each(value)]
    if isinstance(value, str | list | tuple | dict):
        BUDGET.measure(value)
    return value


def _range(*bounds: int) -> range:
    found = range(*bounds)
    if found.__len__() > MOST_ITEMS:
        raise ValueError(f"a range has at most {MOST_ITEMS} numbers")
    return found


def _replaced(value: Any, wanted: Any, given: Any, count: int | None = None) -> str:
    text, old, new = str(settled(value)), str(wanted), str(given)
    found = text.count(old)
    times = found if count is None or count < 0 else min(found, count)
    if len(text) + times * (len(new) - len(old)) > MOST_ITEMS:
        raise ValueError(f"a text or a list has at most {MOST_ITEMS} parts")
    return text.replace(old, new, times)


def _sum(values: Iterable[Any], attribute: str | None = None, start: float = 0) -> Any:
    total: Any = start
    for value in _metered(values) if attribute is None else _fields(_metered(values), attribute):
        if not isinstance(value, int | float) or not isinstance(total, int | float):
            raise TypeError("only numbers have a sum")
        total = _bounded(total + value)
    return total


def _fields(values: Iterable[Any], attribute: str) -> Iterator[Any]:
    for value in values:
        if not isinstance(value, Mapping):
            raise TypeError("only maps have fields")
        yield value[attribute]


def _joined(values: Iterable[Any], between: str = "") -> str:
    parts: list[str] = []
    length = 0
    for value in map(settled, _metered(values)):
        parts.append(str(value))
        length += len(parts[-1]) + len(between)
        if length > MOST_ITEMS:
            raise ValueError(f"a text or a list has at most {MOST_ITEMS} parts")
    return str(between).join(parts)


def _bound_power(base: Any, exponent: Any) -> None:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > MOST_BITS:
        raise ValueError(f"a number has at most {MOST_BITS} bits")


def _bound_product(left: Any, right: Any) -> None:
    for one, times in ((left, right), (right, left)):
        if hasattr(one, "__len__") and isinstance(times, int) and len(one) * times > MOST_ITEMS:
            raise ValueError(f"a text or a list has at most {MOST_ITEMS} parts")


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError(f"a number has at most {MOST_BITS} bits")
    if isinstance(value, str | list | tuple) and len(value) > MOST_ITEMS:
        raise ValueError(f"a text or a list has at most {MOST_ITEMS} parts")
    return value
