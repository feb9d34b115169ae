"""Waits until a server answers."""

from __future__ import annotations

import os
import time

from stepgrid.host.processes import supervision
from stepgrid.plugins.server import Connection, ServerEngine, ServerTimeouts
from stepgrid.run.server.process import Server

READY = 1800.0  # seconds: after a crash there may be much to recover
PAUSE = 0.1


def seconds() -> float:
    return float(os.environ.get("STEPGRID_READY") or READY)


def connected(engine: ServerEngine, server: Server) -> Connection:
    """StageError when it ends, does not let its client in, or takes too long."""
    allowed = engine.ready_within if isinstance(engine, ServerTimeouts) else seconds()
    end, said = time.monotonic() + allowed, "nothing"
    while time.monotonic() < end:
        if server.gone():
            raise server.failure(" before it was ready")
        try:
            return _asked(engine.connect(server.access))
        except OSError as error:
            said = str(error) or type(error).__name__
        except Exception as error:  # the client's own classes: it runs, and refuses
            raise server.complaint(f"the server runs, but does not let its client in: {error}") from None
        supervision.wait(server.pid, PAUSE)
    why = ": it was stopped (state T), by SIGSTOP or a debugger" if server.halted else f"; its client was told: {said}"
    raise server.complaint(f"the server was not ready within {allowed:g} s{why}")


def _asked(connection: Connection) -> Connection:
    connection.query("select 1")
    return connection
