"""How noisy each comparison of a table is: two or three loads alone say little, so the comparisons help each other.

The noise of a comparison is never taken for less than its own loads show, and what the others say never counts for
more than what it says itself: half of the degrees of freedom at least are its own. More than that would find more, and
would find too much where some arms are far noisier than the rest. Simulated in the tests.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from stepgrid.summarize.statistics.scipy_functions import special

FLOOR = 0.0025**2  # figures are rounded: loads that agree to the digit do not show that there is no noise
NOISIER, NOISIER_OF_TWO = 0.10, 0.50  # a comparison this unlikely to be as quiet as the others has only its own noise


@dataclass(frozen=True, slots=True)
class Spread:
    """What the loads of one comparison show."""

    variance: float
    freedom: int
    base: Hashable = None  # comparisons with one base are not independent; None: alone


@dataclass(frozen=True, slots=True)
class Noise:
    variance: float
    freedom: float


@dataclass(frozen=True, slots=True)
class _Family:
    """Sums over a table, so that what the others of any comparison show is known at once."""

    squares: float
    freedom: int
    of_base: Mapping[Hashable, tuple[int, int]]  # how many comparisons, degrees of freedom
    counted: float  # degrees of freedom, as if independent

    @property
    def pooled(self) -> float:
        return self.squares / self.freedom

    def without(self, own: Spread) -> tuple[float, float]:
        """(pooled variance, degrees of freedom) of the others."""
        freedom = self.freedom - own.freedom
        squares = max(self.squares - _square(own), FLOOR * freedom)
        if own.base is None:
            return squares / freedom, self.counted - own.freedom
        count, shared = self.of_base[own.base]
        rest = _counted(count - 1, shared - own.freedom) - _counted(count, shared)
        return squares / freedom, self.counted + rest


def noise(family: Sequence[Spread]) -> list[Noise]:
    known = _family(family)
    return [_noise(own, known, alone=len(family) == 1) for own in family]


def _noise(own: Spread, family: _Family, alone: bool) -> Noise:
    variance = max(own.variance, FLOOR)
    if alone or _noisier(own, family):
        return Noise(variance, own.freedom)
    return Noise(max(variance, family.pooled), min(family.counted, 2 * own.freedom))


def _noisier(own: Spread, family: _Family) -> bool:
    """With two loads a noisy comparison often looks quiet by chance: it is believed less."""
    pooled, freedom = family.without(own)
    chance = 1 - special("fdtr", own.freedom, freedom, max(own.variance, FLOOR) / pooled)
    return chance < (NOISIER_OF_TWO if own.freedom == 1 else NOISIER)


def _family(family: Sequence[Spread]) -> _Family:
    of_base: dict[Hashable, tuple[int, int]] = {}
    for each in family:
        if each.base is not None:
            count, freedom = of_base.get(each.base, (0, 0))
            of_base[each.base] = (count + 1, freedom + each.freedom)
    alone = sum(each.freedom for each in family if each.base is None)
    counted = alone + sum(_counted(count, freedom) for count, freedom in of_base.values())
    return _Family(sum(map(_square, family)), sum(each.freedom for each in family), of_base, counted)


def _square(each: Spread) -> float:
    return each.freedom * max(each.variance, FLOOR)


def _counted(count: int, freedom: int) -> float:
    """Differences from one base correlate by a half, their squares by a quarter: k of them count as k/(1+(k-1)/4)."""
    return freedom / (1 + (count - 1) / 4) if count else 0.0
