"""The drivers by step kind. A module is imported when its kind is asked for, so that this costs nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from stepgrid.plugins.driver import Driver, Runner, WithFiles, WithInputs

_MODULES = {
    "db_bench": "stepgrid.drivers.db_bench",
    "sysbench": "stepgrid.drivers.sysbench",
    "insert_benchmark": "stepgrid.drivers.insert_benchmark",
    "linkbench": "stepgrid.drivers.linkbench",
    "vector_search": "stepgrid.drivers.vector_search",
    "sql": "stepgrid.drivers.sql",
    "quiesce": "stepgrid.drivers.quiesce",
    "command": "stepgrid.drivers.command",
}


def kinds() -> tuple[str, ...]:
    return tuple(_MODULES)


@cache
def driver(kind: str) -> Driver:
    """What planning needs of a kind."""
    if kind not in _MODULES:
        raise LookupError(f"there is no step kind {kind!r}; the kinds are: {', '.join(_MODULES)}")
    return cast("Driver", import_module(_MODULES[kind]).DRIVER)


@cache
def client(kind: str) -> str | None:
    """The engine of whose builds a kind's client is one; None where the engine's own build has all programs."""
    from stepgrid.plugins.driver import Client

    found = driver(kind)
    return found.client if isinstance(found, Client) else None


@cache
def with_files(kind: str) -> WithFiles | None:
    """A kind whose steps need files."""
    from stepgrid.plugins.driver import WithFiles

    found = driver(kind)
    return found if isinstance(found, WithFiles) else None


@cache
def with_inputs(kind: str) -> WithInputs | None:
    """A kind whose commands read files of the spec's author."""
    from stepgrid.plugins.driver import WithInputs

    found = driver(kind)
    return found if isinstance(found, WithInputs) else None


@cache
def runnable(kind: str) -> Runner | None:
    """What running needs of a kind; None where this version only checks and plans it."""
    from stepgrid.plugins.driver import Running

    found = driver(kind)
    return cast("Runner", found) if isinstance(found, Running) else None


def running(kind: str) -> Runner:
    found = runnable(kind)
    if found is None:
        raise LookupError(f"this version checks and plans steps of kind {kind}; it cannot run them yet")
    return found


def unrunnable(given: Iterable[str]) -> tuple[str, ...]:
    """Of some kinds, those that this version only checks and plans."""
    return tuple(kind for kind in dict.fromkeys(given) if runnable(kind) is None)
