"""What a metric is: its unit, which way is better, what it is, over which window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    unit: str
    better: Literal["higher", "lower"] | None  # None: depends on what is asked
    definition: str
    window: str
    legacy: Mapping[str, str] = field(default_factory=dict)  # published layout -> its column for the same
