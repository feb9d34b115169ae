"""A connection to a server that already runs: it answers at once, or soon, or it is not there."""

from __future__ import annotations

import os
import time

from stepgrid.plugins.server import Access, Answering, Connection

ALLOWED = 10.0  # seconds: one that is started anew needs some
PAUSE = 0.2


class UnansweredError(Exception):
    """Why there is none, as a sentence; `said`: what its client was told."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(f"{message}: {said}")
        self.said = said


def connected(engine: Answering, access: Access, shown: str, seconds: float | None = None) -> Connection:
    """`shown`: the server, for a sentence."""
    allowed = float(os.environ.get("STEPGRID_READY") or ALLOWED) if seconds is None else seconds
    end = time.monotonic() + allowed
    while True:
        try:
            connection = engine.connect(access)
            connection.query("select 1")
            return connection
        except OSError as error:
            if time.monotonic() >= end:
                raise UnansweredError(f"the server {shown} cannot be reached", told(error)) from None
        except Exception as error:  # the client's own classes: it runs, and refuses
            raise UnansweredError(f"the server {shown} does not let us in", told(error)) from None
        time.sleep(PAUSE)


def told(error: Exception) -> str:
    """The clients' libraries put a number before the server's own words."""
    words = [str(word) for word in error.args if isinstance(word, str)]
    return " ".join((words[-1] if words else str(error) or type(error).__name__).split())
