"""What a metric is: its unit, which way is better, what it is, over which window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

STEP = "the step, from its start to its exit"


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    unit: str
    better: Literal["higher", "lower"] | None  # None: depends on what is asked
    definition: str
    window: str
    legacy: str | None = None  # the column of the published db_bench summaries that holds the same
