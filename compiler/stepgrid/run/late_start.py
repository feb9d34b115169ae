"""Whether a stage would end before its run is to stop: what would not is not started, and left."""

from __future__ import annotations

import time

from stepgrid.model.plan import PlannedStage
from stepgrid.plan.actions import replays
from stepgrid.plan.plan_file import outline
from stepgrid.run.run_end_time import in_force
from stepgrid.store import active_run
from stepgrid.store.images import ImageVerifier
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store


class DeadlineError(Exception):
    """It has waited until it was too late to start."""


def late(store: Store, plan: str, stage: PlannedStage) -> bool:
    """Notes a stage that is left. One of unknown length is started as long as there is time at all."""
    until = in_force()
    if until is None:
        return False
    seconds = _seconds(store, plan, stage.id)
    if time.time() + (seconds or 0.0) <= until.at:
        return False
    active_run.note_skipped_stage(store, stage.id, seconds)
    return True


def refuse_late(store: Store, plan: str, stage: PlannedStage) -> None:
    """After a wait for the host."""
    if late(store, plan, stage):
        raise DeadlineError("when the host was free it was too late to start before the run is to stop")


def _seconds(store: Store, plan: str, stage: str) -> float | None:
    """With those that are run again first."""
    found = outline(store.plan(plan))
    nodes, parents = StatusReader(store, found).read().nodes, {each.id: each.parent for each in found.stages}
    again = replays(stage, parents, lambda node: nodes[node].result is not None, ImageVerifier(store).damage)
    parts = [nodes[node].seconds for node in (stage, *(node for node, _ in again))]
    return None if None in parts else sum(part or 0.0 for part in parts)
