"""The drivers by step kind. A module is imported when its kind is asked for, so that this costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from compiler.drivers.protocol import Driver

_MODULES = {"db_bench": "compiler.drivers.db_bench"}


def kinds() -> tuple[str, ...]:
    return tuple(_MODULES)


def driver(kind: str) -> Driver:
    if kind not in _MODULES:
        raise LookupError(f"there is no step kind {kind!r}; the kinds are: {', '.join(_MODULES)}")
    return cast(Driver, import_module(_MODULES[kind]).DRIVER)
