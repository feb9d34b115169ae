"""The one evaluator: Jinja2's sandbox with strict undefined names; an expression keeps its native type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from stepgrid.errors import StepgridError
from stepgrid.language.expressions.budget import BUDGET, OF_ALL

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

LONGEST = 20_000  # characters
MOST_COMPILED = 5_000  # different expressions of a spec: Jinja2 takes a millisecond for each
COMPILING = OF_ALL // MOST_COMPILED
_WHOLE = re.compile(r"\s*\{\{((?:(?!\}\}|\{\{).)*)\}\}\s*", re.S)
_WORD = re.compile(r"([^\W\d]\w*)(?:\.([^\W\d]\w*))?")
_ASSIGNMENT = re.compile(r"(?<![=!<>])=(?![=])")
_CALL = re.compile(r"\w+\([^()]*\)?")  # its arguments have names
_NAME = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")

# a NameError comes of a constant that Jinja2 works out beforehand: infinity has no literal
_FAULTS = (ArithmeticError, TypeError, ValueError, AttributeError, LookupError, NameError)


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
    """The value of a bare expression, as in `when:` and `exclude:`."""
    return _guard(expression, lambda: _compiled(expression)(**names))


def render(text: str, names: Mapping[str, Any]) -> Any:
    """The value of a text with {{ }}: native when the text is one expression, else text."""
    if "{%" in text:
        raise ExpressionError("a value has no `{% %}`", hint="only expressions: `{{ … }}`")
    whole = _WHOLE.fullmatch(text)
    if whole and not whole[1].strip():
        raise ExpressionError("there is nothing in `{{ }}`")
    if whole:
        return evaluate(whole[1].strip(), names)
    return _guard(text, lambda: _template(text).render(**names))


def parts(expression: str, *kinds: Any) -> list[list[Any]]:
    """What a bare expression is made of: the nodes of each kind in Jinja2's tree."""

    def found() -> list[list[Any]]:
        if not expression.strip():
            raise ExpressionError("there is no expression")
        tree = _environment().parse("{{ " + expression + " }}")
        return [list(tree.find_all(kind)) for kind in kinds]

    listed: list[list[Any]] = _guard(expression, found)
    return listed


def references(text: str) -> set[tuple[str, str]]:
    """Names that an expression mentions, as (name, attribute or ''): ('params', 'keys')."""
    inside = " ".join(re.findall(r"\{\{(.*?)\}\}", text, re.S)) if is_template(text) else text
    return {(match[1], match[2] or "") for match in _NAME.finditer(inside)}


@lru_cache(maxsize=4096)
def mentions(text: str) -> frozenset[tuple[str, str]]:
    """Every (name, attribute or '') that stands in a text, in or out of {{ }} and quotes: never one too few."""
    return frozenset((match[1], match[2] or "") for match in _WORD.finditer(text))


def _guard(expression: str, action: Callable[[], Any]) -> Any:
    if len(expression) > LONGEST:
        raise ExpressionError(f"`{_short(expression)}` is too long or too deep to be evaluated")
    try:
        with BUDGET:
            return _defined(action())
    except ExpressionError:
        raise
    except Exception as error:
        raise _explained(error, expression) from None


def _explained(error: Exception, expression: str) -> Exception:
    """The fault of an expression as a sentence; any other is returned as it is."""
    from jinja2 import TemplateError, TemplateSyntaxError, UndefinedError

    if isinstance(error, UndefinedError):
        name = _undefined_name(str(error))
        return ExpressionError(f"`{_dotted(name, expression)}` is not defined", name)
    if isinstance(error, TemplateSyntaxError):
        message = f"`{_short(expression)}` is not an expression: {_told(error.message)}"
        return ExpressionError(message, hint=hint(expression))
    if isinstance(error, RecursionError | MemoryError | SyntaxError):
        return ExpressionError(f"`{_short(expression)}` is too long or too deep to be evaluated")
    if isinstance(error, (TemplateError, *_FAULTS)):
        return ExpressionError(f"`{_short(expression)}` has no value: {_told(error)}")
    return error


def hint(expression: str) -> str:
    """What is usually meant by something that is no expression."""
    if is_template(expression):
        return "an expression stands here without `{{ }}`"
    return "equal is `==`" if _ASSIGNMENT.search(_CALL.sub("", expression)) else ""


def _told(fault: object) -> str:
    from stepgrid.language.expressions.errors import told

    return told(str(fault))


def _dotted(name: str, expression: str) -> str:
    """`params.keyz` for keyz, as the expression has it."""
    return next((f"{above}.{name}" for above, below in references(expression) if below == name), name or expression)


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:120]}…"


def _defined(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"it would be {'no number' if isnan(value) else 'infinite'}")
    if isinstance(value, int | float):
        return value
    from stepgrid.language.expressions.sandbox import settled

    return settled(value)


def _undefined_name(message: str) -> str:
    """Jinja2 says "'x' is undefined" or "'… object' has no attribute 'x'"."""
    quoted = re.findall(r"'([^']*)'", message)
    return quoted[-1] if quoted else ""


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined

    from stepgrid.language.expressions.sandbox import Sandbox

    return Sandbox(undefined=StrictUndefined, autoescape=False)


@lru_cache(maxsize=2 * MOST_COMPILED)
def _compiled(expression: str) -> Callable[..., Any]:
    BUDGET.pay(COMPILING)
    return _environment().compile_expression(expression, undefined_to_none=False)


@lru_cache(maxsize=2 * MOST_COMPILED)
def _template(text: str) -> Any:
    BUDGET.pay(COMPILING)
    return _environment().from_string(text)
