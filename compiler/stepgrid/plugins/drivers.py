"""The drivers by step kind, and what each can do in this version."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from stepgrid.model.figures import Figures, ParseError, check_rates
from stepgrid.plugins.driver import (
    Client,
    DefaultTables,
    Driver,
    ForeignEngines,
    InputFiles,
    OutputReader,
    Runner,
    RunningDriver,
    StepFiles,
)
from stepgrid.plugins.registry import DRIVERS, ENGINES

if TYPE_CHECKING:
    from stepgrid.model.plan import PlannedStep


def kinds() -> tuple[str, ...]:
    return DRIVERS.names()


@cache
def driver(kind: str) -> Driver:
    """What planning needs of a kind."""
    return DRIVERS.get(kind)


@cache
def tables(kind: str) -> tuple[str, ...]:
    """The layouts that the report of a kind of step shows where the spec names no tables."""
    found = driver(kind)
    return found.tables if isinstance(found, DefaultTables) else ()


@cache
def runs_on(kind: str, engine: str) -> bool:
    """An engine names the kinds that run on it; the kind of another package may name the engine instead."""
    return kind in ENGINES.get(engine).kinds or engine in _engines(kind)


def _engines(kind: str) -> tuple[str, ...]:
    found = driver(kind)
    return found.engines if isinstance(found, ForeignEngines) else ()


@cache
def client(kind: str) -> str | None:
    """The engine of whose builds a kind's client is one; None where the engine's own build has all programs."""
    found = driver(kind)
    return found.client if isinstance(found, Client) else None


@cache
def with_files(kind: str) -> StepFiles | None:
    """A kind whose steps need files."""
    found = driver(kind)
    return found if isinstance(found, StepFiles) else None


@cache
def with_inputs(kind: str) -> InputFiles | None:
    """A kind whose commands read files of the spec's author."""
    found = driver(kind)
    return found if isinstance(found, InputFiles) else None


@cache
def runnable(kind: str) -> Runner | None:
    """What running needs of a kind; None where this version only checks and plans it."""
    found = driver(kind)
    return cast("Runner", found) if isinstance(found, RunningDriver) else None


def running(kind: str) -> Runner:
    found = runnable(kind)
    if found is None:
        raise LookupError(f"this version checks and plans steps of kind {kind}; it cannot run them yet")
    return found


def read_settings(step: PlannedStep) -> dict[str, Any]:
    """Settings that decide what is read of a step's output, and nothing of what is run."""
    return {name: step.settings.get(name) for name in reading_names(step.kind)}


@cache
def reading_names(kind: str) -> tuple[str, ...]:
    found = driver(kind)
    return found.reading if isinstance(found, OutputReader) else ()


def unrunnable(given: Iterable[str]) -> tuple[str, ...]:
    """Of some kinds, those that this version only checks and plans."""
    return tuple(kind for kind in dict.fromkeys(given) if runnable(kind) is None)


_MET = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError)


def parsed(kind: RunningDriver, folder: Path, settings: Mapping[str, Any]) -> Figures:
    """What a step's output says; ParseError for whatever the parser of any package meets in a damaged one."""
    for name in ("stdout", "stderr"):
        if os.path.islink(f"{folder}/{name}"):  # noqa: PTH114 - of ten thousand
            raise ParseError(f"{name} is a link: a step's output is read from its own files")
    try:
        figures = kind.parse(folder, settings)
    except _MET as error:
        raise ParseError(f"its output cannot be read: {type(error).__name__}: {str(error)[:200]}") from None
    check_rates(figures)
    return figures
