"""The engines by name, and what each can do in this version: be planned, built, run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import cast

from stepgrid.plugins.engine import Built, CompiledEngine, Engine, EngineBuilder
from stepgrid.plugins.registry import ENGINES
from stepgrid.plugins.server import ServerEngine


def names() -> tuple[str, ...]:
    return ENGINES.names()


@cache
def engine(name: str) -> Engine:
    """What planning needs of an engine."""
    return ENGINES.get(name)


def buildable(name: str) -> Built | None:
    """What builds need of an engine; None where this version only checks and plans it."""
    found = engine(name)
    return cast(Built, found) if isinstance(found, EngineBuilder) else None


def building(name: str) -> Built:
    found = buildable(name)
    if found is None:
        raise LookupError(f"this version checks and plans the engine {name}; it cannot build it yet")
    return found


def systems(name: str) -> tuple[str, ...]:
    """The build systems that compile an engine, the default first; none of one that is never compiled."""
    found = engine(name)
    return found.systems if isinstance(found, CompiledEngine) else ()


def served(name: str) -> ServerEngine | None:
    """What runs need of an engine that is a server; None of one that lives in the step's own program."""
    found = engine(name)
    return found if isinstance(found, ServerEngine) else None


def runnable(name: str) -> bool:
    """A server needs a running half."""
    return buildable(name) is not None and (not engine(name).server or served(name) is not None)


def unrunnable(given: Iterable[str]) -> tuple[str, ...]:
    """Of some engines, those that this version does not run."""
    return tuple(name for name in dict.fromkeys(given) if not runnable(name))
