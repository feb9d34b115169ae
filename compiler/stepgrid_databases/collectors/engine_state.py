"""engine_state: states in which a server holds its clients up, as it says itself when it is asked every second."""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from stepgrid.plugins import driver
from stepgrid.plugins.collector import Target
from stepgrid.plugins.engine import EngineEvent, IndebtedEngine
from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import StatefulEngine


class EngineState:
    tool = "python3"
    package = "python3"
    settings: tuple[str, ...] = ("every",)
    module = "stepgrid_databases.collectors.engine_state"

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        return [tool, "-m", self.module]

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}

    def events(self, folder: Path) -> Iterator[EngineEvent]:
        """Join looks that met one state: it lasted from the look before them, or the step's start, to the last of them.

        What the last look of all met went on to the step's end.
        """
        running: dict[str, float] = {}
        last = 0.0
        for look, states in _looks(folder):
            for kind in [kind for kind in running if kind not in states]:
                began = running.pop(kind)
                yield EngineEvent(began, last - began, kind)
            for kind in states:
                running.setdefault(kind, last)
            last = look
        yield from (EngineEvent(began, math.inf, kind) for kind, began in running.items())

    def debts(self, folder: Path) -> Mapping[str, Sequence[tuple[float, float]]]:
        debts: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for look in _lines(folder):
            for name, value in look.get("debts", {}).items():
                debts[name].append((float(look["t"]), float(value)))
        return debts


def _looks(folder: Path) -> Iterator[tuple[float, Sequence[str]]]:
    for look in _lines(folder):
        yield float(look["t"]), [name for name, state in look["states"].items() if state["value"] > state["most"]]


def _lines(folder: Path) -> Iterator[Mapping[str, Any]]:
    with suppress(OSError):
        for line in (folder / "stdout").read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError):  # a line that is cut off
                yield json.loads(line)


COLLECTOR = EngineState()


# The program


def main(folder: Path) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    access, settings = driver.read_request(folder)
    engine: object = None if access is None else server_engine(access.engine)
    if access is None or not isinstance(engine, StatefulEngine):
        print(f"{access.engine if access else 'the engine'} has no such states", file=sys.stderr)
        return 1
    indebted: object = engine
    debt_names = indebted.debts.get(access.storage_engine, {}) if isinstance(indebted, IndebtedEngine) else {}
    with closing(engine.connect(access)) as connection:
        try:
            while True:
                readings = engine.states(connection)
                states = {reading.what: {"value": reading.value, "most": reading.least} for reading in readings}
                debts = {debt_names[reading.what]: reading.value for reading in readings if reading.what in debt_names}
                print(json.dumps({"t": round(time.time(), 3), "states": states, "debts": debts}), flush=True)
                time.sleep(float(settings.get("every") or 1.0))
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
