"""The program of a step of kind quiesce: a line of JSON for each look, and one at the end."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

from stepgrid.drivers.quiesce.request import Request, read, sentence
from stepgrid.drivers.quiesce.waiting import (
    Device,
    DrainProcess,
    Limits,
    Observation,
    Outcome,
    SettleRequest,
    watch,
)
from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Access, IdleReading


def main(folder: Path) -> int:
    signal.signal(signal.SIGTERM, stop)
    request = read(folder)
    data = None if request.access and request.access.running else request.data
    device = Device(data, request.device, request.device_busy, request.device_writes)
    try:
        if request.access:
            outcome = _settle_server(request, device, request.access)
        else:
            drain = DrainProcess(request.argv, request.endless, folder)
            with drain.under_way():
                outcome = _watch(request, drain, device.readings)
    except Exception as error:  # whatever the client's library raises is what the server said
        print(sentence(error), file=sys.stderr)
        return 1
    outcome_values = {"quiet": outcome.quiet, "since": outcome.since, "seconds": outcome.last.seconds}
    _print({"end": {**outcome_values, "device": device.name}})
    return 0


def _settle_server(request: Request, device: Device, access: Access) -> Outcome:
    engine = server_engine(access.engine)
    if engine is None:
        raise LookupError(f"{access.engine} is no server")
    settling = SettleRequest(engine, access, request.flush, request.analyze)
    with closing(engine.connect(access)) as connection, settling.under_way():
        return _watch(request, settling, lambda: (*engine.busy(connection, access), *device.readings()))


def _watch(request: Request, work: SettleRequest | DrainProcess, look: Callable[[], Sequence[IdleReading]]) -> Outcome:
    def report(observation: Observation) -> None:
        readings = [{**reading._asdict(), "idle": reading.idle} for reading in observation.readings]
        _print({"look": {"seconds": observation.seconds, "idle": observation.idle, "seen": readings}})

    return watch(lambda: (work.reading(), *look()), Limits(request.quiet, request.timeout), report, work.start)


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def stop(_number: int, _frame: FrameType | None) -> None:
    """Raise an exception, so that every setting is put back."""
    raise SystemExit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
