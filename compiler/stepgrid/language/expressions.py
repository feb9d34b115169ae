"""Expressions of a spec, evaluated in Jinja2's sandbox with bounds: at once or not at all, and the same each time.

Names that are not defined are errors, and an expression keeps its native type. Jinja2 is imported when the first
expression is evaluated: many commands never do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.errors import StepgridError

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

LONGEST = 20_000  # characters of an expression
MOST_STEPS, MOST_STEPS_OF_SPEC = 1_000_000, 100_000_000  # items that one expression and all of a spec look at
MOST_PARTS = 100_000  # items and characters of a value
MOST_COMPILED = 5_000  # different expressions of a spec: Jinja2 takes a millisecond for each
COMPILING = MOST_STEPS_OF_SPEC // MOST_COMPILED
_WHOLE = re.compile(r"\s*\{\{((?:(?!\}\}|\{\{).)*)\}\}\s*", re.S)
_WORD = re.compile(r"([^\W\d]\w*)(?:\.([^\W\d]\w*))?")
_ASSIGNMENT = re.compile(r"(?<![=!<>])=(?![=])")
_CALL = re.compile(r"(?<!\w)\w++\([^()]*+\)?")  # its arguments have names
_NAME = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")


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


def evaluate(expression: str, names: Mapping[str, Any]) -> Any:
    """Compute the value of a bare expression, as in `when:` and `exclude:`."""
    return _guard(expression, lambda: _compile(expression)(**names))


def render(text: str, names: Mapping[str, Any]) -> Any:
    """Compute the value of a text with {{ }}: native when the text is one expression, else text."""
    if "{%" in text:
        raise ExpressionError("a value has no `{% %}`", hint="only expressions: `{{ … }}`")
    match = _WHOLE.fullmatch(text)
    if match and not match[1].strip():
        raise ExpressionError("there is nothing in `{{ }}`")
    if match:
        return evaluate(match[1].strip(), names)
    return _guard(text, lambda: _compile(text, is_template=True)(**names))


def settle(text: str, names: Mapping[str, Any]) -> str:
    """Evaluate the expressions of a text that do not depend on the version; the others stay as they are."""
    end = text.rfind("}}") + 2 if "}}" in text else 0  # behind it nothing ends: looked at, it would be again and again

    def value(match: re.Match[str]) -> str:
        return match[0] if "version" in match[1] else str(evaluate(match[1].strip(), names))

    return re.sub(r"\{\{(.*?)\}\}", value, text[:end], flags=re.S) + text[end:]


def find_nodes(expression: str, *kinds: Any) -> list[list[Any]]:
    """List the nodes of each kind in Jinja2's tree of a bare expression."""

    def find() -> list[list[Any]]:
        if not expression.strip():
            raise ExpressionError("there is no expression")
        tree = _environment().parse("{{ " + expression + " }}")
        return [list(tree.find_all(kind)) for kind in kinds]

    nodes: list[list[Any]] = _guard(expression, find)
    return nodes


def references(text: str) -> set[tuple[str, str]]:
    """List the names of an expression, as (name, attribute or ''): ('params', 'keys')."""
    inside = " ".join(re.findall(r"\{\{(.*?)\}\}", text[: text.rfind("}}") + 2], re.S)) if is_template(text) else text
    return {(match[1], match[2] or "") for match in _NAME.finditer(inside)}


@lru_cache(maxsize=4096)
def mentions(text: str) -> frozenset[tuple[str, str]]:
    """List every (name, attribute or '') in a text, in or out of {{ }} and quotes: never one too few."""
    return frozenset((match[1], match[2] or "") for match in _WORD.finditer(text))


class Objective(NamedTuple):
    """The aim of a search on an axis: `max rate where stall_pct < 1 and p99_us < 5000`."""

    name: str  # a metric, or the variable itself
    condition: str  # empty: there is none

    @property
    def names(self) -> set[str]:
        """Metrics, and perhaps the variable."""
        from jinja2 import nodes

        named = find_nodes(self.condition, nodes.Name)[0] if self.condition else []
        return {self.name, *(str(node.name) for node in named)}

    def holds(self, names: Mapping[str, float]) -> bool:
        """Evaluate the condition; ExpressionError if a name is undefined."""
        value = evaluate(self.condition, names) if self.condition else True
        if not isinstance(value, bool):
            raise ExpressionError(f"`{self.condition}` is neither true nor false")
        return value


_OBJECTIVE = re.compile(r"\s*max\s+([^\W\d]\w*)(?:\s+where\s+(.+?))?(?<!\s)\s*+", re.S)


def parse_objective(text: str) -> Objective:
    match = _OBJECTIVE.fullmatch(text)
    if match is None:
        hint = "expected `max NAME`, or `max NAME where CONDITION`"
        raise ExpressionError(f"`{text}` is not what a search can be for", hint=hint)
    objective = Objective(match[1], match[2] or "")
    assert objective.names  # raises if the condition cannot be read
    return objective


class Budget:
    """Steps that expressions may take; one that needs others pays for them, too."""

    def __init__(self) -> None:
        self._steps, self._depth = MOST_STEPS, 0
        self._steps_of_spec = math.inf

    @contextmanager
    def of_spec(self) -> Iterator[None]:
        """Limit all expressions of a spec together."""
        before, self._steps_of_spec = self._steps_of_spec, MOST_STEPS_OF_SPEC
        try:
            yield
        finally:
            self._steps_of_spec = before

    def __enter__(self) -> None:
        if self._depth == 0:
            self._steps = MOST_STEPS
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1

    def pay(self, steps: int) -> None:
        self._steps -= steps
        self._steps_of_spec -= steps
        if self._steps < 0:
            raise ValueError(f"it takes more than {MOST_STEPS:,} steps")
        if self._steps_of_spec < 0:
            raise ValueError(f"the expressions of the spec take more than {MOST_STEPS_OF_SPEC:,} steps together")

    def measure(self, value: Any) -> None:
        """Refuse a value of too many parts: a list may hold another one many times, and be small until written out."""
        parts = MOST_PARTS
        queue = [value]
        while queue:
            item = queue.pop()
            parts -= len(item) if isinstance(item, str) else 1
            if isinstance(item, list | tuple):
                queue += item[: parts + 1]
            elif isinstance(item, dict):
                queue += [*item.keys(), *item.values()][: parts + 1]
            if parts - len(queue) < 0:
                raise ValueError(f"its value has more than {MOST_PARTS:,} parts")


BUDGET = Budget()

# a NameError comes from a constant that Jinja2 computes beforehand: infinity has no literal
_FAULTS = (ArithmeticError, TypeError, ValueError, AttributeError, LookupError, NameError)


def _guard(expression: str, action: Callable[[], Any]) -> Any:
    if len(expression) > LONGEST:
        raise ExpressionError(f"`{_short(expression)}` is too long or too deep to be evaluated")
    try:
        with BUDGET:
            value = action()
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"it would be {'no number' if math.isnan(value) else 'infinite'}")
            return value if isinstance(value, int | float) else _settle(value)
    except ExpressionError:
        raise
    except Exception as error:
        raise _explain(error, expression) from None


def _explain(error: Exception, expression: str) -> Exception:
    """Put the fault of an expression into a sentence; any other is returned as it is."""
    from jinja2 import TemplateError, TemplateSyntaxError, UndefinedError

    if isinstance(error, UndefinedError):
        # Jinja2 says "'x' is undefined" or "'… object' has no attribute 'x'"
        name = next(reversed(re.findall(r"'([^']*)'", str(error))), "")
        group = next((first for first, second in references(expression) if second == name), "")
        path = f"{group}.{name}" if group else name or expression
        return ExpressionError(f"`{path}` is not defined", name)
    if isinstance(error, TemplateSyntaxError):
        message = f"`{_short(expression)}` is not an expression: {_translate(str(error.message))}"
        return ExpressionError(message, hint=hint(expression))
    if isinstance(error, RecursionError | MemoryError | SyntaxError):
        return ExpressionError(f"`{_short(expression)}` is too long or too deep to be evaluated")
    if isinstance(error, (TemplateError, *_FAULTS)):
        return ExpressionError(f"`{_short(expression)}` has no value: {_translate(str(error))}")
    return error


def hint(expression: str) -> str:
    """Suggest what is usually meant by a text that is no expression."""
    if is_template(expression):
        return "an expression stands here without `{{ }}`"
    return "equal is `==`" if _ASSIGNMENT.search(_CALL.sub("", expression)) else ""


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:120]}…"


_TYPES = {
    "str": "a text", "Text": "a text", "int": "a number", "float": "a number", "bool": "true or false",
    "list": "a list", "dict": "a map", "tuple": "a list", "NoneType": "nothing", "range": "a range", "View": "a map",
    "Label": "a label", "Machine": "the hardware", "Version": "a version", "function": "a function",
    "builtin_function_or_method": "a function", "generator": "a list", "method": "a function",
}  # fmt: skip
# what Python and Jinja2 say -> a sentence: {1} is what the first group matched, {t1} the type that it names
_SENTENCES = (
    (r"unsupported operand type\(s\) for (\S+?)(?: or pow\(\))?: '(\w+)' and '(\w+)'",
     "there is no `{1}` of {t2} and {t3}"),
    (r"name 'inf' is not defined", "it would be infinite"),
    (r"name 'nan' is not defined", "it would be no number"),
    (r"bad operand type for unary (\S+): '(\w+)'", "there is no `{1}` of {t2}"),
    (r"'\S+' not supported between instances of '(\w+)' and '(\w+)'", "{t1} and {t2} have no order"),
    (r"can only concatenate \w+ \(not \"(\w+)\"\) to (\w+)", "there is no `+` of {t2} and {t1}: `~` joins texts"),
    (r"access to attribute '(\w+)' of '\w+' object is unsafe", "`{1}` is not for specs"),
    (r"'(\w+)' object is not (?:iterable|subscriptable)", "{t1} has no parts"),
    (r"argument of type '(\w+)' is not (?:iterable|a container)", "{t1} has no parts"),
    (r"'(\w+)' object is not callable", "{t1} cannot be called"),
    (r"object of type '(\w+)' has no len\(\)", "{t1} has no length"),
    (r"can't multiply sequence by non-int of type '(\w+)'", "there is no `*` of a text and {t1}"),
    (r"'(\w+)' object cannot be interpreted as an integer", "{t1} is no whole number"),
    (r"type (\w+) doesn't define __round__ method", "{t1} cannot be rounded"),
    (r"No (filter|test) named '(\w+)'", "there is no {1} `{2}`"),
    (r"unexpected 'end of (?:template|print statement)'", "it ends too early"),
    (r"chunk after expression", "more follows where it ends"),
    (r"expected token 'end of (?:print statement|statement block)', got '(.+)'", "`{1}` cannot follow"),
    (r"expected token '(.+)', got 'end of (?:template|print statement)'", "`{1}` is missing at its end"),
    (r"expected token '(.+)', got '(.+)'", "`{2}` stands where `{1}` is expected"),
    (r"Exceeds the limit \((\d+) digits\)", "a number has more than {1} digits"),
    (r"(?:integer |float )?(?:division|modulo|division or modulo) by zero", "a division by zero"),
)  # fmt: skip


def _translate(message: str) -> str:
    """Say it by the first sentence that fits, else as Python or Jinja2 do."""
    for pattern, sentence in _SENTENCES:
        if match := re.search(pattern, message):
            types = {f"t{n}": _TYPES.get(name, "another value") for n, name in enumerate(match.groups(), 1)}
            return sentence.format("", *match.groups(), **types)
    return message


@lru_cache(maxsize=2 * MOST_COMPILED)
def _compile(text: str, is_template: bool = False) -> Callable[..., Any]:
    BUDGET.pay(COMPILING)
    if is_template:
        return _environment().from_string(text).render
    return _environment().compile_expression(text, undefined_to_none=False)


MOST_BITS = 1024  # of a whole number
MOST_ITEMS = 10_000  # of a list or a text
_FILTERS = frozenset({
    "abs", "capitalize", "count", "d", "default", "first", "float", "int", "items", "join", "last", "length", "list",
    "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round", "select", "selectattr",
    "sort", "string", "sum", "title", "trim", "unique", "upper",
})  # fmt: skip
_TEXT_METHODS = frozenset({
    "capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdecimal", "isdigit", "islower",
    "isnumeric", "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rpartition",
    "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper",
})  # fmt: skip
_METHODS: Mapping[type, frozenset[str]] = {
    str: _TEXT_METHODS,
    list: frozenset({"count", "index"}),
    tuple: frozenset({"count", "index"}),
    dict: frozenset({"get", "items", "keys", "values"}),
    int: frozenset(),
    float: frozenset({"is_integer"}),
}
_SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.compiler import CodeGenerator
    from jinja2.sandbox import SandboxedEnvironment

    class Code(CodeGenerator):
        def visit_Concat(self, node: Any, frame: Any) -> None:  # noqa: N802 - the visitor calls it so
            """Let `~` join only what has a text that is the same each time."""
            self.write("environment.concatenate((")
            for part in node.nodes:
                self.visit(part, frame)
                self.write(", ")
            self.write("))")

    class Sandbox(SandboxedEnvironment):
        code_generator_class = Code
        intercepted_binops = frozenset({"*", "**", "%", "+"})

        def concatenate(self, parts: tuple[Any, ...]) -> str:
            return _join(_settle(part) for part in parts)

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            kind = next((kind for kind in _METHODS if isinstance(obj, kind)), None)
            return kind is not None and attr in _METHODS[kind]

        def call(self, context: Any, function: Any, *arguments: Any, **named: Any) -> Any:
            if getattr(function, "__name__", "") == "replace" and isinstance(function.__self__, str):
                return _replace(function.__self__, *arguments, **named)
            return _bounded(super().call(context, function, *arguments, **named))

        def call_binop(self, context: Any, operator: str, first: Any, second: Any) -> Any:
            _check_operands(operator, first, second)
            return _bounded(super().call_binop(context, operator, first, second))

    environment = Sandbox(undefined=StrictUndefined, autoescape=False, finalize=_settle)
    environment.globals = {"range": _range}
    environment.filters = {name: _metered(environment.filters[name]) for name in _FILTERS}
    environment.filters |= {
        "replace": _replace,
        "sum": _sum,
        "join": _join,
        "string": lambda value: str(_settle(value)),
    }
    return environment


def _metered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a filter so that it pays for each item that it looks at."""
    position = 1 if hasattr(function, "jinja_pass_arg") else 0  # of some the first argument is Jinja2's own

    @wraps(function)
    def metered(*arguments: Any, **named: Any) -> Any:
        values = list(arguments)
        values[position] = _pay_for(values[position])
        return _bounded(function(*values, **named))

    return metered


def _pay_for(value: Any) -> Any:
    from jinja2 import Undefined

    if isinstance(value, Undefined):  # which `default` is for
        return value
    if isinstance(value, Sized) or not isinstance(value, Iterable):
        BUDGET.pay(len(value) if isinstance(value, Sized) else 1)
        _refuse_unstable(value)
        return value
    return _paid_items(value)


def _paid_items(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        BUDGET.pay(1)
        yield value


def _refuse_unstable(value: Any) -> None:
    """Refuse functions, whose text has their address in memory, and texts that no file can hold."""
    if callable(value):
        raise TypeError("a function is no value")
    if isinstance(value, str) and _SURROGATE.search(value):
        raise ValueError("half a character is no text")
    if isinstance(value, str) and "\0" in value:
        raise ValueError("no text of a program or a file can hold NUL (U+0000)")


def _settle(value: Any) -> Any:
    """Turn a value into what a plan or a text can hold: `map` and `select` give lists."""
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    _refuse_unstable(value)
    if isinstance(value, Iterator):
        value = [_settle(item) for item in _paid_items(value)]
    if isinstance(value, str | list | tuple | dict):
        BUDGET.measure(value)
    return value


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if numbers.__len__() > MOST_ITEMS:
        raise ValueError(f"a range has at most {MOST_ITEMS} numbers")
    return numbers


def _replace(value: Any, old: Any, new: Any, count: int | None = None) -> str:
    text, before, after = str(_settle(value)), str(old), str(new)
    occurrences = text.count(before)
    times = occurrences if count is None or count < 0 else min(occurrences, count)
    _check_length(len(text) + times * (len(after) - len(before)))
    return text.replace(before, after, times)


def _sum(values: Iterable[Any], attribute: str | None = None, start: float = 0) -> Any:
    total: Any = start
    for item in _pay_for(values):
        if attribute is not None and not isinstance(item, Mapping):
            raise TypeError("only maps have fields")
        value = item if attribute is None else item[attribute]
        if not isinstance(value, int | float) or not isinstance(total, int | float):
            raise TypeError("only numbers have a sum")
        total = _bounded(total + value)
    return total


def _join(values: Iterable[Any], between: str = "") -> str:
    parts: list[str] = []
    length = 0
    for value in map(_settle, _pay_for(values)):
        parts.append(str(value))
        length += len(parts[-1]) + len(between)
        _check_length(length)
    return str(between).join(parts)


def _check_operands(operator: str, first: Any, second: Any) -> None:
    if operator == "**" and isinstance(first, int) and isinstance(second, int):
        _check_bits(first.bit_length() * abs(second))
    elif operator == "*":
        for value, times in ((first, second), (second, first)):
            if hasattr(value, "__len__") and isinstance(times, int):
                _check_length(len(value) * times)
    elif operator == "%" and isinstance(first, str):
        raise ValueError("texts have no `%`: `~` joins them")


def _bounded(value: Any) -> Any:
    if isinstance(value, int):
        _check_bits(value.bit_length())
    if isinstance(value, str | list | tuple):
        _check_length(len(value))
    return value


def _check_bits(bits: int) -> None:
    if bits > MOST_BITS:
        raise ValueError(f"a number has at most {MOST_BITS} bits")


def _check_length(length: int) -> None:
    if length > MOST_ITEMS:
        raise ValueError(f"a text or a list has at most {MOST_ITEMS} parts")
