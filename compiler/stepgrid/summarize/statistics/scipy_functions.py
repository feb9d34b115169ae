"""scipy's functions of few numbers, imported when one is called: that takes longer than most reports."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def special(name: str, *given: float) -> float:
    """`stdtrit`, `fdtr` … of scipy.special."""
    function: Any = getattr(import_module("scipy.special"), name)
    return float(function(*given))


def arrays(name: str) -> Any:
    """The same function, of arrays."""
    return getattr(import_module("scipy.special"), name)
