"""durability: how long a server's log was written, and not yet safe from a power cut, by its own word."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from math import inf
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from stepgrid.model.metrics import STEP, Metric, MetricSet, has_percentile
from stepgrid.model.records import Json
from stepgrid.plugins import driver
from stepgrid.plugins.collector import Target
from stepgrid.plugins.engine import EngineEvent
from stepgrid.plugins.registry import engine, server_engine
from stepgrid.plugins.server import Access, Connection, SessionWaits

if TYPE_CHECKING:
    from stepgrid.lint.rule import LintFinding, Rule
    from stepgrid.lint.subject import LintSubject

NAME, FLUSHED = "durability", "what of its log is flushed"
EVERY = 0.02  # seconds between readings
SOON = (0.002, 0.006)  # seconds, one after the other, to the readings behind one that found log that was not flushed
ASKING = 0.05  # of a processor, at most, for the server and its client together

_LAG = "Time from a reading that found new log until all log of that moment was flushed to the disk"
METRICS = (
    Metric("durable_lag_p50_us", "us", "lower", f"{_LAG}: the median.", STEP),
    Metric("durable_lag_p99_us", "us", "lower", f"{_LAG}: the 99th percentile, of 1,000 readings or more.", STEP),
    Metric("durable_lag_max_us", "us", "lower", f"{_LAG}, or until the step's end: the longest.", STEP),
    Metric(
        "durable_lag_resolution_us", "us", None, "Time between readings: how closely a lag of over 8 ms is told.", STEP
    ),
)


@runtime_checkable
class DurableLog(Protocol):
    """A server engine that tells how far its log is written, and how far it is safe."""

    def connect(self, access: Access) -> Connection: ...

    def tells_log(self, storage_engine: str) -> bool:
        """Tell whether a release knows it of a storage engine."""
        ...

    def log_positions(self, connection: Connection, access: Access) -> tuple[float, float]:
        """Read (written, flushed) in bytes; LookupError: this release or storage engine does not tell."""
        ...


class LogReading(NamedTuple):
    began: float  # seconds of any clock
    ended: float
    flushed: float
    written: float | None = None  # None: read only to see what is flushed by now


class Durability:
    tool = "python3"
    package = "python3"
    settings: tuple[str, ...] = ("every",)
    module = "stepgrid_databases.collectors.durability"

    def argv(self, tool: str, settings: Mapping[str, Json], target: Target) -> Sequence[str]:
        return [tool, "-m", self.module]

    def events(self, folder: Path) -> Iterator[EngineEvent]:
        yield from ()

    def rules(self) -> Sequence[Rule]:
        from stepgrid.lint.rule import Rule

        summary = "`durability` of an engine that does not tell what of its log is flushed"
        return (Rule("log-untold", summary, _untold_logs, "error"),)

    def metrics(self) -> MetricSet:
        return MetricSet({"Collectors": METRICS})

    def parse(self, folder: Path) -> Mapping[str, float]:
        return lag_figures(list(_readings(folder)))


def lag_figures(readings: Sequence[LogReading]) -> dict[str, float]:
    """Take each reading that found new log. What was not flushed at the end counts for the longest lag alone."""
    lags, pending, last = list[float](), deque[tuple[float, float]](), inf
    for reading in readings:
        if reading.written is not None:
            if reading.written < last:
                pending.clear()  # a server that crashed has lost that log
            elif reading.written > last:
                pending.append((reading.began, reading.written))
            last = reading.written
        while pending and pending[0][1] <= reading.flushed:
            lags.append(reading.ended - pending.popleft()[0])
    if not lags and not pending:
        return {}
    lags.sort()
    ages = [readings[-1].ended - began for began, _ in pending]
    gaps = [after - before for before, after in pairwise(reading.began for reading in readings if reading.written)]
    figures = {"max": max((*lags[-1:], *ages[:1])), "resolution": median(gaps)}
    if lags:
        figures["p50"] = lags[(len(lags) - 1) // 2]
    if has_percentile(len(lags), 99):
        figures["p99"] = lags[-(-99 * len(lags) // 100) - 1]
    return {f"durable_lag_{name}_us": value * 1e6 for name, value in figures.items()}


def _readings(folder: Path) -> Iterator[LogReading]:
    with suppress(OSError):
        for line in (folder / "stdout").read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError):  # a line that is cut off
                yield LogReading(*json.loads(line))


def _untold_logs(subject: LintSubject) -> Iterator[LintFinding]:
    """Report the collector where none of the steps that it observes is of an engine that tells."""
    from stepgrid.lint.rule import LintFinding

    for use in subject.spec.collectors:
        engines = {
            (cell.choice.build.engine, step.setup.values.storage_engine or "")
            for cell in subject.cells
            for segment in cell.segments
            for step in segment.steps
            if use.collector == NAME and any(item.get("name") == use.name for item in step.setup.values.collectors)
        }
        if engines and not any(map(_tells_log, engines)):
            names = " and ".join(sorted(f"{name} with {storage}" if storage else name for name, storage in engines))
            message = f"collector `{use.name}`: {names} {'does' if len(engines) == 1 else 'do'} not tell {FLUSHED}"
            hint = "expected: steps of InnoDB or PostgreSQL, which do"
            yield LintFinding(use.name.where, message, hint, width=len(use.name))


def _tells_log(names: tuple[str, str]) -> bool:
    plugin: object = engine(names[0])
    return isinstance(plugin, DurableLog) and plugin.tells_log(names[1])


COLLECTOR = Durability()


# The program


def main(folder: Path) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    access, settings = driver.read_request(folder)
    plugin: object = None if access is None else server_engine(access.engine)
    if access is None or not isinstance(plugin, DurableLog):
        print(f"{access.engine if access else 'the engine'} does not tell {FLUSHED}", file=sys.stderr)
        return 1
    try:
        _keep_reading(plugin, access, float(settings.get("every") or EVERY))
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _keep_reading(engine: DurableLog, access: Access, interval_s: float) -> None:
    """Read until the step ends; connect again to a server that restarts beside it."""
    connect = engine.connect_aside if isinstance(engine, SessionWaits) else engine.connect
    connection = connect(access)
    while True:
        try:
            with closing(connection):
                _read_on(engine, connection, access, interval_s)
        except (LookupError, KeyboardInterrupt):
            raise
        except Exception:  # whatever the client's library raises, until the server is back
            connection = _connect_again(connect, access)


def _connect_again(connect: Callable[[Access], Connection], access: Access) -> Connection:
    while True:
        with suppress(Exception):
            return connect(access)
        time.sleep(EVERY)


def _read_on(engine: DurableLog, connection: Connection, access: Access, interval_s: float) -> None:
    due = time.perf_counter()  # at even distances: no reading begins when the log was flushed
    while True:
        used, written = time.thread_time(), None
        for pause in (0.0, *SOON):
            time.sleep(pause)
            began = time.perf_counter()
            position, flushed = engine.log_positions(connection, access)
            line = [round(began, 6), round(time.perf_counter(), 6), flushed]
            print(json.dumps(line if written else [*line, position]))
            written = written or position
            if flushed >= written:
                break
        # the server takes about as much to answer as its client to ask
        due = max(time.perf_counter(), due + max(interval_s, 2 * (time.thread_time() - used) / ASKING))
        time.sleep(max(0.0, due - time.perf_counter()))


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
