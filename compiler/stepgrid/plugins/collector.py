"""What a collector is: a program that looks on while a step runs, one module per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable


class Target(NamedTuple):
    """What is looked at, and where the collector's files go."""

    pids: tuple[int, ...]  # the engine's processes: the server's, else those of the step itself
    folder: Path


class Collector(Protocol):
    tool: str  # the program
    package: str  # as Debian calls what brings it
    settings: tuple[str, ...]  # of language.models.Collector, those that it takes

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        """It looks on until SIGINT."""
        ...

    def parse(self, folder: Path) -> Mapping[str, float]:
        """By name of plugins.metrics.METRICS; what was not counted is missing."""
        ...


@runtime_checkable
class DrawingCollector(Protocol):
    """What is made of it when the steps are over, since making it takes time that belongs to none of them."""

    def script(self, tool: str, folder: Path) -> Sequence[str]:
        """A command whose output is drawn."""
        ...

    def draw(self, output: Path, folder: Path) -> str | None:
        """Why there is nothing to draw."""
        ...


@runtime_checkable
class CountingCollector(Protocol):
    """One that counts by names that no metric has."""

    def counted(self, folder: Path, settings: Mapping[str, Any]) -> Mapping[str, float]: ...


@runtime_checkable
class AttachingCollector(Protocol):
    """One that follows threads from those that there are: a program begins when it looks on, or some are missed."""

    def attached(self, pid: int) -> bool:
        """`pid`: of the collector."""
        ...


class Recording(NamedTuple):
    """Of one step: the collector's files, its settings, and what the step's clients did meanwhile."""

    folder: Path
    settings: Mapping[str, Any]
    operations: float


@runtime_checkable
class ComparingCollector(Protocol):
    """One whose recordings of an arm and its base make one picture."""

    def compared(self, arm: Sequence[Recording], base: Sequence[Recording], title: str) -> str: ...


def listed(pids: Sequence[int]) -> str:
    return ",".join(map(str, pids))


def interval(settings: Mapping[str, Any]) -> str:
    """Whole seconds: the tools take no others."""
    return str(max(1, round(float(settings.get("every", 1)))))
