"""The engines by name. A module is imported when its engine is asked for, so that this costs nothing."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from stepgrid.plugins.engine import Building, Built, Engine

if TYPE_CHECKING:
    from stepgrid.plugins.server import Serving

_MODULES = {
    "rocksdb": "stepgrid.engines.rocksdb",
    "mysql": "stepgrid.engines.mysql",
    "mariadb": "stepgrid.engines.mariadb",
    "postgres": "stepgrid.engines.postgres",
    "program": "stepgrid.engines.program",
    "sysbench": "stepgrid.engines.sysbench",
}


def names() -> tuple[str, ...]:
    return tuple(_MODULES)


def engine(name: str) -> Engine:
    """What planning needs of an engine."""
    if name not in _MODULES:
        raise LookupError(f"there is no engine {name!r}; the engines are: {', '.join(_MODULES)}")
    return cast(Engine, import_module(_MODULES[name]).ENGINE)


def buildable(name: str) -> Built | None:
    """What builds need of an engine; None where this version only checks and plans it."""
    found = engine(name)
    return cast(Built, found) if isinstance(found, Building) else None


def building(name: str) -> Built:
    found = buildable(name)
    if found is None:
        raise LookupError(f"this version checks and plans the engine {name}; it cannot build it yet")
    return found


def served(name: str) -> Serving | None:
    """What runs need of an engine that is a server; None of one that lives in the step's own program."""
    from stepgrid.plugins.server import Serving

    found = engine(name)
    return found if isinstance(found, Serving) else None


def runnable(name: str) -> bool:
    """A server needs a running half."""
    return buildable(name) is not None and (not engine(name).server or served(name) is not None)


def unrunnable(given: Iterable[str]) -> tuple[str, ...]:
    """Of some engines, those that this version does not run."""
    return tuple(name for name in dict.fromkeys(given) if not runnable(name))
