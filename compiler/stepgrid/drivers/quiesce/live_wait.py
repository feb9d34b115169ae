"""What a quiesce waits for while it waits: what its last look did not find idle."""

from __future__ import annotations

import json
from pathlib import Path

from stepgrid.drivers.quiesce.parser import busy
from stepgrid.host.failure import tail

TAIL = 16_384  # bytes of its end: several looks


def waits_for(folder: Path) -> str:
    """Empty before the first look, and when everything is idle, or was not seen yet."""
    try:
        lines = tail(folder / "stdout", TAIL).split("\n")[:-1]
        look = json.loads(lines[-1])["look"]
    except (OSError, ValueError, LookupError):
        return ""
    return "; ".join(busy(thing) for thing in look["seen"] if not thing["idle"])
