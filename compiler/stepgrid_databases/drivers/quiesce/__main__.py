"""The program of a step of kind quiesce: a line of JSON for each look, and one at the end."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Access, IdleReading
from stepgrid_databases.drivers.quiesce import BEGINNING, QuiesceRequest, read
from stepgrid_databases.drivers.quiesce.waiting import (
    DrainProcess,
    EngineIO,
    Observation,
    SettleRequest,
    WaitLimits,
    WaitOutcome,
    WriteBack,
    watch,
)


def main(folder: Path) -> int:
    signal.signal(signal.SIGTERM, stop)
    request = read(folder)
    try:
        if request.access:
            outcome = _settle_server(request, request.access)
        else:
            drain = DrainProcess(request.argv, request.endless, folder)
            io = EngineIO(os.getpid())  # with its children
            with drain.under_way():
                outcome = _watch(request, drain, io.readings)
    except Exception as error:  # whatever the client's library raises is what the server said
        print(f"{BEGINNING}{error}", file=sys.stderr)
        return 1
    _print({"end": {"quiet": outcome.quiet, "since": outcome.since, "seconds": outcome.last.seconds}})
    return 0


def _settle_server(request: QuiesceRequest, access: Access) -> WaitOutcome:
    engine = server_engine(access.engine)
    if engine is None:
        raise LookupError(f"{access.engine} is no server")
    settling, io = SettleRequest(engine, access, request.flush, request.analyze), EngineIO(request.server_pid)
    with closing(engine.connect(access)) as connection, settling.under_way():
        return _watch(request, settling, lambda: (*engine.busy(connection, access), *io.readings()))


def _watch(
    request: QuiesceRequest, work: SettleRequest | DrainProcess, look: Callable[[], Sequence[IdleReading]]
) -> WaitOutcome:
    is_elsewhere = request.access is not None and request.access.running
    files = WriteBack(None if is_elsewhere else request.data)

    def look_at_all() -> Sequence[IdleReading]:
        readings = (work.reading(), *look())
        return (*readings, files.reading(all(reading.idle for reading in readings)))

    def report(observation: Observation) -> None:
        readings = [{**reading._asdict(), "idle": reading.idle} for reading in observation.readings]
        _print({"look": {"seconds": observation.seconds, "idle": observation.idle, "seen": readings}})

    return watch(look_at_all, WaitLimits(request.quiet, request.timeout), report, work.start)


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def stop(_number: int, _frame: FrameType | None) -> None:
    """Raise an exception, so that every setting is put back."""
    raise SystemExit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
