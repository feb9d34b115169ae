"""The time when a run is to stop, `--until 6h` or `--until 07:30`, as its jobs read it from their environment."""

from __future__ import annotations

import os
import re
import time
from datetime import datetime, timedelta

from msgspec import Struct

from stepgrid.model.plan import PlannedStage
from stepgrid.model.units import UnitError, quantity
from stepgrid.plan.actions import replays
from stepgrid.store.active_run import note_skipped_stage
from stepgrid.store.images import ImageVerifier
from stepgrid.store.status import job_status
from stepgrid.store.store import Store

VARIABLE = "STEPGRID_UNTIL"  # "<unix time> <text of the request>"
EXPECTED = "a duration such as 6h, 90m or 1h30m, or a time of day such as 07:30"
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)
_PART = r"\d+(?:\.\d+)?\s*[a-z]+"


class DeadlineError(Exception):
    """A stage has waited until it was too late to start."""


class RunEndTime(Struct, frozen=True):
    at: float  # unix time
    text: str  # of the request


def parse_end_time(text: str, now: float) -> RunEndTime | None:
    """Parse a duration or a time of day, which is the next one; None for anything else."""
    request = text.strip()
    if clock := _CLOCK.fullmatch(request):
        today = datetime.fromtimestamp(now).replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        end = today if today.timestamp() > now else today + timedelta(days=1)
        return RunEndTime(end.timestamp(), request)
    if not re.fullmatch(f"(?:{_PART})+", request, re.ASCII):
        return None
    try:
        seconds = float(sum(quantity(part, "duration") for part in re.findall(_PART, request, re.ASCII)))
    except UnitError:
        return None
    return RunEndTime(now + seconds, request) if seconds else None


def set_end_time(until: object) -> None:
    """Set it for every job that this process starts; ValueError says what was expected.

    When it is requested twice in one process, or again by a job of a cluster, the first time counts.
    """
    if until is None:
        os.environ.pop(VARIABLE, None)
        return
    end, current = parse_end_time(str(until), time.time()), end_time()
    if end is None:
        raise ValueError(f"until={until}: expected {EXPECTED}")
    if current is None or current.text != end.text:
        os.environ[VARIABLE] = f"{end.at} {end.text}"


def end_time() -> RunEndTime | None:
    at, _, text = os.environ.get(VARIABLE, "").partition(" ")
    try:
        return RunEndTime(float(at), text)
    except ValueError:
        return None


def skip_if_late(store: Store, plan: str, stage: PlannedStage) -> bool:
    """Note a stage that would end too late. One of unknown length is started as long as there is time at all."""
    until = end_time()
    if until is None:
        return False
    seconds = _expected_seconds(store, plan, stage.id)
    if time.time() + (seconds or 0.0) <= until.at:
        return False
    note_skipped_stage(store, stage.id, seconds)
    return True


def _expected_seconds(store: Store, plan: str, stage: str) -> float | None:
    """Estimate the stage, with those that are run again first."""
    status = job_status(store, plan)
    nodes, parents = status.nodes, {stage.id: stage.parent for stage in status.plan.stages}
    again = replays(stage, parents, lambda node: nodes[node].result is not None, ImageVerifier(store).damage)
    parts = [nodes[node].seconds for node in (stage, *(node for node, _ in again))]
    return None if None in parts else sum(part or 0.0 for part in parts)
