"""Look after look until the run is over, at a price that a measurement beside it does not notice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from stepgrid.model.status import Status
from stepgrid.store.status.reader import Looker

PERIOD = 1.0  # seconds between two views
SHARE = 300  # at least so many times what a look took lies between two of them


def follow(looker: Looker, show: Callable[[Status], None], period: float = PERIOD) -> Status:
    """Shows every view; ends when a run has ended, or when there is nothing to wait for."""
    was_active, due, status = False, 0.0, looker.look()
    while True:
        if time.monotonic() >= due:
            began = time.thread_time()
            status = looker.look()
            due = time.monotonic() + SHARE * (time.thread_time() - began)
        status = replace(status, now=time.time())
        if not status.is_active and (was_active or status.is_complete) and not looker.look().is_active:
            return looker.look()
        was_active = was_active or status.is_active
        show(status)
        time.sleep(period)
