"""Stages that a run has not started because they would not have ended in time; a line each, beside the run's lock."""

from __future__ import annotations

import json
import os

from stepgrid.host.files import make_folder
from stepgrid.store.store import Store

NAME = "left"


def forget(store: Store) -> None:
    """A run begins."""
    store.lock(NAME).unlink(missing_ok=True)


def note(store: Store, stage: str, seconds: float | None) -> None:
    """By the stage's job: what it would have taken, None when that is unknown."""
    path = store.lock(NAME)
    make_folder(path.parent)
    line = json.dumps({"stage": stage, "seconds": seconds}) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, line.encode())  # at once: jobs of a cluster may do so together
    finally:
        os.close(descriptor)


def noted(store: Store) -> dict[str, float | None]:
    """Stage -> seconds, of the run that is active or was the last."""
    try:
        lines = store.lock(NAME).read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
    except (OSError, ValueError):
        return {}
    return {line["stage"]: line["seconds"] for line in found}
