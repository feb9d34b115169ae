"""The engines by name. A module is imported when its engine is asked for, so that this costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from compiler.engines.protocol import Engine

_MODULES = {"rocksdb": "compiler.engines.rocksdb"}


def names() -> tuple[str, ...]:
    return tuple(_MODULES)


def engine(name: str) -> Engine:
    if name not in _MODULES:
        raise LookupError(f"there is no engine {name!r}; the engines are: {', '.join(_MODULES)}")
    return cast(Engine, import_module(_MODULES[name]).ENGINE)
