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

from stepgrid.drivers.quiesce.device import Device
from stepgrid.drivers.quiesce.drain_process import DrainProcess
from stepgrid.drivers.quiesce.polling import Observation, Outcome, watch
from stepgrid.drivers.quiesce.request import Request, read, sentence
from stepgrid.drivers.quiesce.settle_request import SettleRequest, of_server
from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Access, IdleReading


def main(folder: Path) -> int:
    signal.signal(signal.SIGTERM, _stop)
    request = read(folder)
    data = None if request.access and request.access.running else request.data
    device = Device(data, request.device, request.device_busy, request.device_writes)
    try:
        outcome = _server(request, device, request.access) if request.access else _embedded(request, device, folder)
    except Exception as error:  # whatever the client's library raises is what the server said
        print(sentence(error), file=sys.stderr)
        return 1
    waited = {"quiet": outcome.quiet, "since": outcome.since, "seconds": outcome.last.seconds}
    _print({"end": {**waited, "device": device.name}})
    return 0


def _server(request: Request, device: Device, access: Access) -> Outcome:
    engine = server_engine(access.engine)
    if engine is None:
        raise LookupError(f"{access.engine} is no server")
    asking = of_server(engine, access, request.flush, request.analyze)
    with closing(engine.connect(access)) as connection, asking.under_way():
        return _watch(request, asking, lambda: (*engine.busy(connection, access), *device.seen()))


def _embedded(request: Request, device: Device, folder: Path) -> Outcome:
    drained = DrainProcess(request.argv, request.held, folder)
    with drained.under_way():
        return _watch(request, drained, device.seen)


def _watch(request: Request, work: SettleRequest | DrainProcess, look: Callable[[], Sequence[IdleReading]]) -> Outcome:
    return watch(lambda: (work.seen(), *look()), request.quiet, request.timeout, _say, work.start)


def _say(made: Observation) -> None:
    seen = [{**thing._asdict(), "idle": thing.idle} for thing in made.seen]
    _print({"look": {"seconds": made.seconds, "idle": made.idle, "seen": seen}})


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """An exception, so that what was set is put back."""
    raise SystemExit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
