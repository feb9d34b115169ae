"""A figure that an output has in several ways, each rounded: the finest of those that agree is taken."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class Estimate(NamedTuple):
    value: float
    off: float = 0.0  # by how much it may be wrong

    def times(self, other: Estimate) -> Estimate:
        return Estimate(self.value * other.value, self.off * other.value + other.off * self.value)

    def agrees(self, other: Estimate) -> bool:
        return abs(self.value - other.value) <= (self.off + other.off) * 1.001  # printf rounds halves either way


@lru_cache(maxsize=4096)  # a run says the same several times
def printed(text: str, unit: float = 1.0) -> Estimate:
    """`0.12` of a unit is wrong by half a hundredth of it at most."""
    decimals = len(text.partition(".")[2])
    return Estimate(float(text) * unit, 0.5 * 10.0**-decimals * unit)


def finest(first: Estimate, others: Iterable[Estimate]) -> Estimate:
    """`first` is known to be the figure that is asked for; one that does not agree with it is another figure."""
    found = first
    for each in others:
        if each.off < found.off and each.agrees(first):
            found = each
    return found
