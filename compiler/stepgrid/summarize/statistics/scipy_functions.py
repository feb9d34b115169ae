"""scipy's functions of few numbers, remembered: to import them takes longer than to write most reports."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stepgrid.summarize.cache import report_cache


def special(name: str, *given: float) -> float:
    """`stdtrit`, `fdtr` … of scipy.special."""

    def found() -> float:
        function: Any = getattr(import_module("scipy.special"), name)
        return float(function(*given))

    return report_cache.book("special").of(f"{name} {given}", found)
