"""Whether a stage would end before its run is to stop: what would not is not started, and left."""

from __future__ import annotations

import time

from stepgrid.model.plan import PlannedStage
from stepgrid.plan.files.plan_file import read_header
from stepgrid.run.run_end_time import in_force
from stepgrid.store import skipped_stages
from stepgrid.store.status.eta import needed, pace
from stepgrid.store.store import Store


class Late(Exception):
    """It has waited until it was too late to start."""


def late(store: Store, plan: str, stage: PlannedStage) -> bool:
    """Notes a stage that is left. One of unknown length is started as long as there is time at all."""
    until = in_force()
    if until is None:
        return False
    seconds = _seconds(store, plan, stage.id)
    if time.time() + (seconds or 0.0) <= until.at:
        return False
    skipped_stages.note(store, stage.id, seconds)
    return True


def refuse_late(store: Store, plan: str, stage: PlannedStage) -> None:
    """After a wait for the host."""
    if late(store, plan, stage):
        raise Late("when the host was free it was too late to start before the run is to stop")


def _seconds(store: Store, plan: str, stage: str) -> float | None:
    stages = {each["id"]: each for each in read_header(store.plan(plan))["stages"]}
    done = {node: each for node, each in stages.items() if store.mark(node).exists()}
    return needed(store, stages[stage], stages, pace(store, done))
