"""Protocols of a collector, a program that runs beside a step; one module per kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from stepgrid.model.records import Json

if TYPE_CHECKING:
    from stepgrid.model.metrics import Metric, MetricSet
    from stepgrid.plugins.engine import EngineEvent

RECORDED = "[recorded]"  # among counts by function: microseconds of CPU of the windows that were recorded
EVENT = "[event] "  # likewise: how often an event happened in each microsecond of CPU
WAIT = "[wait] "  # likewise: microseconds of the engine's threads in each that they ran, by what they did
CLIENT = "[client]"  # likewise: microseconds of CPU of a server's client
COMMAND = "command.json"  # of a collector's folder: its command, the target's pids and client
ENGINE_STATE = "engine_state"  # the collector that asks a server for its debts
FUNCTIONS = "perf_record"  # the collector that counts microseconds of CPU by function, and the source of its counts


class Target(NamedTuple):
    """Processes that a collector observes, and the folder of its files."""

    pids: tuple[int, ...]  # the engine's processes: the server's, else those of the step itself
    folder: Path
    client: int | None = None  # the step's program beside a server


class Collector(Protocol):
    tool: str  # the program
    package: str  # as Debian calls what brings it
    settings: tuple[str, ...]  # of language.models.Collector, those that it takes

    def argv(self, tool: str, settings: Mapping[str, Json], target: Target) -> Sequence[str]:
        """Make a command that observes until SIGINT."""
        ...

    def parse(self, folder: Path) -> Mapping[str, float]:
        """Read figures by name of plugins.metrics.METRICS; what was not counted is missing."""
        ...


@runtime_checkable
class DrawingCollector(Protocol):
    """A collector whose recording is drawn when the steps are over, since drawing takes time that is no step's."""

    def script(self, tool: str, folder: Path) -> Sequence[str]:
        """Make a command whose output is drawn."""
        ...

    def draw(self, output: Path, folder: Path) -> str | None:
        """Draw it, or say why there is nothing to draw."""
        ...


@runtime_checkable
class CountingCollector(Protocol):
    """A collector that counts by names that no metric has."""

    def counted(self, folder: Path, settings: Mapping[str, Json]) -> Mapping[str, float]: ...


@runtime_checkable
class AskingCollector(Protocol):
    """A collector that asks the engine's server: a program of ours, whose request says how the server is reached."""

    module: str

    def events(self, folder: Path) -> Iterable[EngineEvent]: ...


@runtime_checkable
class DebtCollector(Protocol):
    """A collector that looks at what an engine puts off."""

    def debts(self, folder: Path) -> Mapping[str, Sequence[tuple[float, float]]]:
        """Map each debt to the times of the looks, in seconds since 1970, and what they found."""
        ...


@runtime_checkable
class AttachingCollector(Protocol):
    """A collector that follows the threads of its first moment: a program that began before it would lose some."""

    def attached(self, pid: int) -> bool:
        """Tell whether the collector, by its pid, observes by now."""
        ...


class Recording(NamedTuple):
    """A recording of one step: the collector's files, its settings, and the operations of the step's clients."""

    folder: Path
    settings: Mapping[str, Json]
    operations: float


@runtime_checkable
class ComparingCollector(Protocol):
    """A collector whose recordings of an arm and its base make one picture."""

    def compared(self, arm: Sequence[Recording], base: Sequence[Recording], title: str) -> str: ...


def pid_list(pids: Sequence[int]) -> str:
    return ",".join(map(str, pids))


def interval(settings: Mapping[str, Any]) -> str:
    """Round to whole seconds, as the tools take no others."""
    return str(max(1, round(float(settings.get("every", 1)))))


@runtime_checkable
class MetricProvider(Protocol):
    """A driver or collector with metrics that no other has, or that stand in columns of published tables."""

    def metrics(self) -> MetricSet: ...


@runtime_checkable
class OwnMetrics(Protocol):
    """A driver whose steps give metrics their names."""

    def own_metrics(self, settings: Mapping[str, Json]) -> Mapping[str, Metric]: ...
