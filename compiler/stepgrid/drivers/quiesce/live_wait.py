"""What a quiesce waits for while it waits: what its last look did not find idle."""

from __future__ import annotations

import json
import os
from pathlib import Path

from stepgrid.drivers.quiesce.parser import busy

TAIL = 16_384  # bytes of its end: several looks


def waits_for(folder: Path) -> str:
    """Empty before the first look, and when everything is idle, or was not seen yet."""
    try:
        with (folder / "stdout").open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            lines = file.read().decode("utf-8", "replace").split("\n")[:-1]
        look = json.loads(lines[-1])["look"]
    except (OSError, ValueError, LookupError):
        return ""
    return "; ".join(busy(thing) for thing in look["seen"] if not thing["idle"])
