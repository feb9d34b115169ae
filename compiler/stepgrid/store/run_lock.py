"""The lock of a checkout, one run at a time, and what the run that holds it says about itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from stepgrid.host.locks import locked
from stepgrid.store.store import Store

NAME = "run"


@dataclass(frozen=True, slots=True)
class Record:
    pid: int
    started: datetime
    spec: str
    plan: str = ""  # its digest
    until: str = ""  # when it is to stop, as it was given
    stops: float | None = None  # unix time


@contextmanager
def run_lock(store: Store, spec: str, until: str = "", stops: float | None = None, plan: str = "") -> Iterator[None]:
    """Busy when another run is active here."""
    path = store.lock(NAME)
    with locked(path, wait=False):
        said: dict[str, object] = {
            "pid": os.getpid(),
            "started": datetime.now(UTC).isoformat(),
            "spec": spec,
            "plan": plan,
        }
        said |= {"until": until, "stops": stops} if until else {}
        path.write_text(json.dumps(said) + "\n", encoding="utf-8")  # in place: the lock is on this very file
        yield


def record(store: Store) -> Record | None:
    """Of the run that took the lock last; None while it is being written."""
    try:
        raw = json.loads(store.lock(NAME).read_text(encoding="utf-8"))
        until, stops = str(raw.get("until", "")), raw.get("stops")
        started, plan = datetime.fromisoformat(raw["started"]), str(raw.get("plan", ""))
        return Record(int(raw["pid"]), started, str(raw["spec"]), plan, until, stops)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def active(store: Store, holders: Sequence[int]) -> Record | None:
    """The record, when it is that of the process which holds the lock and not of one before."""
    found = record(store)
    return found if found and (found.pid in holders or not holders) else None
