"""Expressions of a spec: Jinja2 reads them, and the nodes of a white list are evaluated here.

No node loops, an expression has few nodes, and each makes a small value: so all of them cost little, and give the same
each time. Jinja2 is imported when the first expression is read: many commands never do.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, NoReturn, TypeAlias

from stepgrid.errors import StepgridError

LONGEST, LONGEST_TEXT = 20_000, 100_000  # characters of an expression; of a text that expressions were put into
MOST_NODES = 1_000  # of an expression
MOST_PARTS = 10_000  # items and characters of a value that a node makes
MOST_BITS, MOST_DIGITS = 1024, 100  # of a whole number; to which a number is rounded
_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.S)
_WORD = re.compile(r"([^\W\d]\w*)(?:\.([^\W\d]\w*))?")
_NAME = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")

Names: TypeAlias = Mapping[str, object]


class ExpressionError(StepgridError):
    """An expression that cannot be read or evaluated. `name` is the undefined name, when that is the reason."""

    def __init__(self, message: str, name: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.hint = hint


class CycleError(ExpressionError):
    """A value that needs itself: a -> b -> a."""


def is_template(text: str) -> bool:
    return "{{" in text or "{%" in text


def evaluate(expression: str, names: Names) -> Any:
    """Compute the value of a bare expression, as in `when:` and `exclude:`."""
    tree = parse(expression)
    with _explaining(expression):
        value = _value(tree, names)
        if callable(value):
            raise ValueError("a function is no value")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"it would be {'no number' if math.isnan(value) else 'infinite'}")
        return value


def render(text: str, names: Names) -> Any:
    """Compute the value of a text with {{ }}: native when the text is one expression, else text."""
    if "{%" in text:
        raise ExpressionError("a value has no `{% %}`", hint="only expressions: `{{ … }}`")
    pieces = _split(text.removesuffix("\n"))
    if len(pieces) == 3 and not pieces[0].strip() and not pieces[2].strip():
        return evaluate(pieces[1], names)
    values = [evaluate(piece, names) if index % 2 else piece for index, piece in enumerate(pieces)]
    with _explaining(text[:LONGEST]):
        return _join(values, most=LONGEST_TEXT)


def settle(text: str, names: Names) -> str:
    """Evaluate the expressions of a text that do not depend on the version; the others stay as they are."""
    pieces = _split(text) if is_template(text) else [text]
    for index in range(1, len(pieces), 2):
        is_open = "version" in pieces[index]
        pieces[index] = f"{{{{ {pieces[index]} }}}}" if is_open else str(evaluate(pieces[index], names))
    return "".join(pieces)


def _split(text: str) -> list[str]:
    """Split a text into what is around expressions and, at odd places, the expressions."""
    end = text.rfind("}}") + 2 if "}}" in text else 0  # behind it nothing ends: looked at, it would be again and again
    pieces = [piece.strip() if index % 2 else piece for index, piece in enumerate(_EXPRESSION.split(text[:end]))]
    pieces[-1] += text[end:]
    if "{{" in pieces[-1]:
        raise ExpressionError("a `{{` is not closed")
    if "" in pieces[1::2]:
        raise ExpressionError("there is nothing in `{{ }}`")
    return pieces


def references(text: str) -> set[tuple[str, str]]:
    """List the names of an expression, as (name, attribute or ''): ('params', 'keys')."""
    inside = " ".join(_EXPRESSION.findall(text[: text.rfind("}}") + 2])) if is_template(text) else text
    return {(match[1], match[2] or "") for match in _NAME.finditer(inside)}


@lru_cache(maxsize=4096)
def mentions(text: str) -> frozenset[tuple[str, str]]:
    """List every (name, attribute or '') in a text, in or out of {{ }} and quotes: never one too few."""
    return frozenset((match[1], match[2] or "") for match in _WORD.finditer(text))


# Reading


@lru_cache(maxsize=4096)
def parse(expression: str) -> Any:
    """Read a bare expression as a tree of Jinja2's nodes, each of them on the white list."""
    from jinja2 import Environment, TemplateSyntaxError, nodes
    from jinja2.parser import Parser

    if not expression.strip():
        raise ExpressionError("there is no expression")
    with _explaining(expression):
        parser: Parser | None = None
        try:
            parser = Parser(Environment(autoescape=False), expression, state="variable")
            tree = parser.parse_expression()
            fault = "" if parser.stream.eos else f"`{parser.stream.current.value}` cannot follow"
        except ValueError:
            fault = "a number has too many digits"
        except TemplateSyntaxError as error:
            fault = str(error.message) if parser is None else _syntax_fault(str(error.message), parser.stream.current)
        all_nodes = [] if fault else [*nodes.Output([tree]).find_all(nodes.Node)]
        fault = fault or next(filter(None, map(_node_fault, all_nodes)), "")
        if len(all_nodes) > MOST_NODES:
            raise RecursionError
    if fault:
        hint = "equal is `==`" if parser is not None and parser.stream.current.type == "assign" else ""
        hint = "an expression stands here without `{{ }}`" if is_template(expression) else hint
        raise ExpressionError(f"`{_short(expression)}` is not an expression: {fault}", hint=hint)
    return tree


def find_nodes(expression: str, *kinds: Any) -> list[list[Any]]:
    """List the nodes of each kind in the tree of a bare expression."""
    from jinja2 import nodes

    tree = nodes.Output([parse(expression)])
    return [list(tree.find_all(kind)) for kind in kinds]


def _syntax_fault(fault: str, token: Any) -> str:
    """Describe a fault by the token at which Jinja2 stopped, and by what it expected there."""
    expected = re.search(r"\bexpected (?:token )?'(.+?)'", fault)
    if token.type == "eof" and "unexpected char" not in fault:
        is_bracket = expected is not None and expected[1] in ")]}"
        return f"`{expected[1]}` is missing at its end" if expected and is_bracket else "it ends too early"
    return f"`{token.value}` stands where `{expected[1]}` is expected" if expected and ", got" in fault else fault


def _node_fault(node: Any) -> str:
    kind = type(node).__name__
    if kind in ("Filter", "Test") and node.name not in (_FILTERS if kind == "Filter" else _TESTS):
        return f"there is no {kind.lower()} `{node.name}`"
    if getattr(node, "dyn_args", None) or getattr(node, "dyn_kwargs", None):
        return "`*` cannot stand before an argument"
    if kind == "CondExpr" and node.expr2 is None:
        return "its `if` has no `else`"
    return "" if kind in _NODES or kind in _INNER else f"it has a {kind.lower()}, which is not for specs"


@contextmanager
def _explaining(expression: str) -> Iterator[None]:
    """Put what Python says of an expression into a sentence."""
    try:
        if len(expression) > LONGEST:
            raise RecursionError
        yield
    except (RecursionError, MemoryError):
        raise ExpressionError(f"`{_short(expression)}` is too long or too deep to be evaluated") from None
    except (ArithmeticError, TypeError, ValueError, AttributeError, LookupError) as error:
        raise ExpressionError(f"`{_short(expression)}` has no value: {error}") from None


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:120]}…"


# Evaluation


def _value(node: Any, names: Names) -> Any:
    return _NODES[type(node).__name__](node, names)


def _values(nodes: Iterable[Any], names: Names) -> list[Any]:
    return [_value(node, names) for node in nodes]


def _kind(value: Any) -> str:
    kinds = ((bool, "true or false"), (int | float, "a number"), (str, "a text"), (list | tuple, "a list"))
    words = (word for kind, word in kinds if isinstance(value, kind))
    return next(words, "nothing" if value is None else "a function" if callable(value) else "a map")


def _small(value: Any) -> Any:
    """Refuse a value that is large, or that holds what is no value: a list may hold another one many times."""
    parts, queue = 0, [value]
    while queue:
        item = queue.pop()
        if isinstance(item, str | list | tuple | dict):
            parts += len(item)
            _check_parts(parts + len(queue))
        if isinstance(item, str):
            if re.search("[\0\ud800-\udfff]", item):
                nul = "no text of a program or a file can hold NUL (U+0000)"
                raise ValueError(nul if "\0" in item else "half a character is no text")
        elif isinstance(item, list | tuple | dict):
            queue += [*item, *item.values()] if isinstance(item, dict) else item
        elif isinstance(item, int):
            _check_bits(item.bit_length())
        elif not isinstance(item, float | None):
            raise ValueError("it would be no number" if isinstance(item, complex) else f"{_kind(item)} is no value")
    return value


def _check_parts(parts: int, most: int = MOST_PARTS) -> None:
    if parts > most:
        raise ValueError(f"a text or a list has at most {most} parts")


def _check_bits(bits: int) -> None:
    if bits > MOST_BITS:
        raise ValueError(f"a number has at most {MOST_BITS} bits")


def _refuse_name(name: str, holder: str = "") -> NoReturn:
    raise ExpressionError(f"`{holder}{name}` is not defined", name)


def _part(node: Any, names: Names) -> Any:
    """Look up `holder.name` or `holder[key]`: a method of a text, or an entry."""
    holder, is_named = _value(node.node, names), type(node).__name__ == "Getattr"
    key = node.attr if is_named else _value(node.arg, names)
    if is_named and isinstance(holder, str) and key in _METHODS:
        return getattr(holder, key)
    try:
        return holder[key]
    except (TypeError, LookupError):
        if is_named and hasattr(type(holder), key):
            raise ValueError(f"`{key}` is not for specs") from None
    _refuse_name(str(key), f"{node.node.name}." if type(node.node).__name__ == "Name" else "")


def _operation(node: Any, names: Names) -> Any:
    """Calculate with numbers, also those of labels; only `+` takes two texts or two lists, too."""
    values, sign = _values(node.iter_child_nodes(), names), node.operator
    is_joining = sign == "+" and any(all(isinstance(value, kind) for value in values) for kind in (str, list))
    if not is_joining:  # the label 1GiB of an axis has a number
        values = [value if (number := getattr(value, "number", None)) is None else number for value in values]
    if not is_joining and not all(isinstance(value, int | float) for value in values):
        hint = ": `~` joins texts" if sign == "+" and any(isinstance(value, str) for value in values) else ""
        raise ValueError(f"there is no `{sign}` of {' and '.join(map(_kind, values))}{hint}")
    if sign == "**" and all(isinstance(value, int) for value in values):
        _check_bits(values[0].bit_length() * abs(values[1]))
    try:
        return _small(_OPERATORS[type(node).__name__](*values))
    except ZeroDivisionError:
        raise ValueError("a division by zero") from None
    except OverflowError:
        raise ValueError("it would be infinite") from None


def _comparison(node: Any, names: Names) -> bool:
    first = _value(node.expr, names)
    for operand in node.ops:
        second = _value(operand.expr, names)
        try:
            if not _COMPARISONS[operand.op](first, second):
                return False
        except (TypeError, LookupError):
            fault = "cannot be compared by `in`" if operand.op in ("in", "notin") else "have no order"
            raise ValueError(f"{_kind(first)} and {_kind(second)} {fault}") from None
        first = second
    return True


def _call(node: Any, names: Names) -> Any:
    function = _value(node.node, names)
    if not callable(function):
        raise ValueError(f"{_kind(function)} cannot be called")
    arguments, named = _arguments(node, names)
    if getattr(function, "__name__", "") == "replace":
        function = partial(_replace, getattr(function, "__self__", ""))
    return _small(function(*arguments, **named))


def _arguments(node: Any, names: Names) -> tuple[list[Any], dict[str, object]]:
    return _values(node.args, names), {part.key: _value(part.value, names) for part in node.kwargs}


def _filter(node: Any, names: Names) -> Any:
    arguments, named = _arguments(node, names)
    if node.name == "default":
        return _value(node.node, names) if _is_defined(node.node, names) else [*arguments, ""][0]
    value = _value(node.node, names)
    if node.name in ("first", "last", "max", "min") and isinstance(value, list | str) and not value:
        raise ValueError(f"there is no `{node.name}` of nothing")
    try:
        return _small(_FILTERS[node.name](value, *arguments, **named))
    except (TypeError, AttributeError):
        raise ValueError(f"there is no `{node.name}` of {_kind(value)}") from None


def _is_defined(node: Any, names: Names) -> bool:
    try:
        _value(node, names)
    except ExpressionError as error:
        if not error.name or type(node).__name__ not in ("Name", "Getattr", "Getitem"):
            raise
        return False
    return True


def _join(values: Iterable[Any], between: str = "", most: int = MOST_PARTS) -> str:
    texts: list[str] = []
    length = 0
    for value in values:
        texts.append(value if isinstance(value, str) else str(_small(value)))
        length += len(texts[-1]) + len(between)
        _check_parts(length, most)
    return between.join(texts)


def _replace(text: str, old: Any, new: Any, count: int = -1) -> str:
    before, after = _join([old]), _join([new])
    _check_parts(len(text) + text.count(before) * (len(after) - len(before)))
    return text.replace(before, after, count)


def _float(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"`{value}` is no number") from None


def _round(value: float, digits: int = 0, method: str = "common") -> float:
    if abs(digits) > MOST_DIGITS:
        raise ValueError(f"a number is rounded to at most {MOST_DIGITS} digits")
    if method == "common":
        return round(value, digits)
    scale = 10.0**digits
    return {"ceil": math.ceil, "floor": math.floor}[method](value * scale) / scale


_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": operator.truediv, "Mod": operator.mod,
    "FloorDiv": operator.floordiv, "Pow": operator.pow, "Neg": operator.neg, "Pos": operator.pos,
}  # fmt: skip
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "lteq": operator.le, "gt": operator.gt,
    "gteq": operator.ge, "in": lambda item, items: item in items, "notin": lambda item, items: item not in items,
}  # fmt: skip
_FILTERS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "default": _filter,  # which does this one by itself
    "first": lambda items: items[0],
    "float": _float,
    "int": lambda number: int(number if isinstance(number, int) else _float(number)),
    "join": lambda items, between="": _join(list(items), between),
    "last": lambda items: items[-1],
    "length": len,
    "list": list,
    "lower": str.lower,
    "max": max,
    "min": min,
    "replace": _replace,
    "round": _round,
    "sort": sorted,
    "string": lambda value: _join([value]),
    "sum": sum,
    "trim": str.strip,
    "unique": lambda items: list(dict.fromkeys(items)),
    "upper": str.upper,
}
_TESTS: Mapping[str, Callable[[Any, Names], bool]] = {
    "defined": _is_defined,
    "undefined": lambda node, names: not _is_defined(node, names),
    "none": lambda node, names: _value(node, names) is None,
}
_METHODS = frozenset({
    "capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit", "islower", "isupper", "lower",
    "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rpartition", "rsplit", "rstrip", "split",
    "splitlines", "startswith", "strip", "title", "upper",
})  # fmt: skip
_INNER = frozenset({"Keyword", "Operand", "Pair"})  # parts of the nodes that have them
_NODES: Mapping[str, Callable[[Any, Names], Any]] = {
    "And": lambda node, names: _value(node.left, names) and _value(node.right, names),
    "Call": _call,
    "Compare": _comparison,
    "Concat": lambda node, names: _small(_join(_values(node.nodes, names))),
    "CondExpr": lambda node, names: _value(node.expr1 if _value(node.test, names) else node.expr2, names),
    "Const": lambda node, names: _small(node.value),
    "Filter": _filter,
    "Getattr": _part,
    "Getitem": _part,
    "List": lambda node, names: _small(_values(node.items, names)),
    "Name": lambda node, names: names[node.name] if node.name in names else _refuse_name(node.name),
    "Not": lambda node, names: not _value(node.node, names),
    "Or": lambda node, names: _value(node.left, names) or _value(node.right, names),
    "Test": lambda node, names: _TESTS[node.name](node.node, names),
    "Tuple": lambda node, names: _small(_values(node.items, names)),
    **dict.fromkeys(_OPERATORS, _operation),
}
