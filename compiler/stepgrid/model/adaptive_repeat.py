"""Loads until it is sure: how many at least and at most, after which a comparison is looked at, and at which level."""

from __future__ import annotations

import math
from dataclasses import dataclass

GROWTH = 1.25  # from one look to the next: more looks find little earlier and cost width
ALPHA = 0.05  # over all looks

# The same level at each of so many looks, by which one look in all errs 5 times in 100; `bench/until.py --levels`
# simulates them. Looks at growing numbers of loads depend on each other, so this is far more than 5 % / looks.
LEVELS = (
    0.05, 0.032, 0.0245, 0.0204, 0.0169, 0.0147, 0.0129, 0.0116, 0.0105, 0.0097, 0.0089, 0.0082, 0.0076, 0.0072,
    0.0067, 0.0063, 0.006,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AdaptiveRepeat:
    """Of `repeat: {until: …}`."""

    least: int
    most: int
    width: float | None = None  # how far an interval may reach from its ratio; None: until there is a verdict
    within: float | None = None  # seconds that all stages of the plan may take

    @property
    def looks(self) -> tuple[int, ...]:
        """least=3, most=12: after 3, 4, 5, 7, 9 and 12 loads."""
        found = [self.least]
        while found[-1] < self.most:
            found.append(min(self.most, max(found[-1] + 1, math.ceil(found[-1] * GROWTH))))
        return tuple(found)

    @property
    def level(self) -> float:
        """Of each look."""
        return LEVELS[min(len(self.looks), len(LEVELS)) - 1]

    def next_look(self, loads: int) -> int | None:
        """The look after so many loads; None after the last."""
        return next((look for look in self.looks if look > loads), None)

    @property
    def goal(self) -> str:
        """until decided; until ± 2 %"""
        return "until decided" if self.width is None else f"until ± {self.width * 100:g} %"
