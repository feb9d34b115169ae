"""Classes of latencies, as tables of response times have them."""

from __future__ import annotations

import math
from collections.abc import Mapping

LIMITS: Mapping[str, float] = {  # of each class, in microseconds
    "256us": 256, "1ms": 1e3, "4ms": 4e3, "16ms": 16e3, "64ms": 64e3, "256ms": 256e3, "1s": 1e6, "4s": 4e6,
    "16s": 16e6, "gt": math.inf,
}  # fmt: skip
NAMES = tuple(LIMITS)
