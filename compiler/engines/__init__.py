"""The engines by name. A module is imported when its engine is asked for, so that this costs nothing."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import cast

from compiler.engines.protocol import Engine, Runner, Running

_MODULES = {
    "rocksdb": "compiler.engines.rocksdb",
    "mysql": "compiler.engines.mysql",
    "mariadb": "compiler.engines.mariadb",
    "postgres": "compiler.engines.postgres",
}


def names() -> tuple[str, ...]:
    return tuple(_MODULES)


def engine(name: str) -> Engine:
    """What planning needs of an engine."""
    if name not in _MODULES:
        raise LookupError(f"there is no engine {name!r}; the engines are: {', '.join(_MODULES)}")
    return cast(Engine, import_module(_MODULES[name]).ENGINE)


def runnable(name: str) -> Runner | None:
    """What builds and runs need of an engine; None where this version only checks and plans it."""
    found = engine(name)
    return cast(Runner, found) if isinstance(found, Running) else None


def running(name: str) -> Runner:
    found = runnable(name)
    if found is None:
        raise LookupError(f"this version checks and plans the engine {name}; it cannot run it yet")
    return found


def unrunnable(given: Iterable[str]) -> tuple[str, ...]:
    """Of some engines, those that this version only checks and plans."""
    return tuple(name for name in dict.fromkeys(given) if runnable(name) is None)
