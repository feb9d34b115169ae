"""How long this host was suspended since it started: one of the kernel's clocks goes on meanwhile, another does not."""

from __future__ import annotations

import time

LEAST = 0.5  # seconds: less is the time between two looks at the clocks


def seconds() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
