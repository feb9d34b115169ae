"""What databases and images may take, what they take, and what is left."""

from __future__ import annotations

import os
from dataclasses import dataclass

from stepgrid.host.disk import existing
from stepgrid.model.units import size
from stepgrid.store import images
from stepgrid.store.store import Store

RESERVE, SHARE = 1 << 30, 50  # of a device that nobody set a budget for: this much stays free, or a 50th of it


@dataclass(frozen=True, slots=True)
class DiskUsage:
    free: int  # negative: more is used than there may be
    budget: int | None
    used: int

    @property
    def said(self) -> str:
        free = f"{size(max(0, self.free))} free"
        return free if self.budget is None else f"{free} of {size(self.budget)} (`disk` in the site file)"


def room(store: Store, budget: int | None) -> DiskUsage:
    """What is used is what this checkout has there; what others have shows in what the device has left."""
    found = os.statvfs(existing(store.data))
    reserve = min(RESERVE, found.f_blocks * found.f_frsize // SHARE)
    free = found.f_bavail * found.f_frsize - reserve
    used = images.stored_bytes(store.image("_").parent.with_name(name) for name in ("images", "live"))
    return DiskUsage(free if budget is None else min(free, budget - used), budget, used)
