"""Functions of scipy.special, imported when one is called: that takes longer than most reports."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def special(name: str, *numbers: float) -> float:
    """Call `stdtrit`, `fdtr` … of scipy.special with numbers."""
    return float(arrays(name)(*numbers))


def arrays(name: str) -> Any:
    """Return the function, which takes arrays, too."""
    return getattr(import_module("scipy.special"), name)
