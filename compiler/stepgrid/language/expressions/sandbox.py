"""Jinja2's sandbox, with bounds: what a spec says is evaluated at once or not at all."""

from __future__ import annotations

from typing import Any

from jinja2.sandbox import SandboxedEnvironment

MOST_BITS = 1024  # of a whole number
MOST_ITEMS = 10_000  # of a list or a text
# what makes small things large: `'a'.ljust(10**10)`, `'{:9999999999}'.format(1)`
_GROWING = frozenset({"center", "ljust", "rjust", "zfill", "format", "format_map", "expandtabs", "join", "translate"})
_GROWING_FILTERS = ("center", "format", "indent", "lipsum", "batch", "slice", "wordwrap", "tojson", "pprint")


class Sandbox(SandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.globals = {"range": _range}
        for name in _GROWING_FILTERS:
            self.filters.pop(name, None)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return not (isinstance(obj, str) and attr in _GROWING) and super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            _bound_power(left, right)
        elif operator == "*":
            _bound_product(left, right)
        elif operator == "%" and isinstance(left, str):
            raise ValueError("texts have no `%`: `~` joins them")
        return _bounded(super().call_binop(context, operator, left, right))


def _range(*bounds: int) -> range:
    found = range(*bounds)
    if found.__len__() > MOST_ITEMS:
        raise ValueError(f"a range has at most {MOST_ITEMS} numbers")
    return found


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
