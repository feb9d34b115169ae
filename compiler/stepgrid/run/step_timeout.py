"""The timeout of a step: after it the step is stopped, and failed (host/processes/supervision.py)."""

from __future__ import annotations

import os

from stepgrid.model.plan import Command

GRACE = 600.0
FLOOR, FACTOR = 600.0, 10.0  # of a step that does not say how long it takes


def seconds_allowed(command: Command, estimate: float) -> float:
    """The declared duration, or generously more than the estimate, and a grace on top."""
    grace = float(os.environ.get("STEPGRID_GRACE") or GRACE)
    return grace + (max(FLOOR, FACTOR * estimate) if command.duration is None else command.duration)
