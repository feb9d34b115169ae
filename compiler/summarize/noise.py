"""How noisy each comparison of a table is: two or three loads alone say little, so the comparisons help each other.

The noise of a comparison is never taken for less than its own loads show, and what the others say never counts for
more than what it says itself: half of the degrees of freedom at least are its own. More than that would find more, and
would find too much where some arms are far noisier than the rest. Simulated in the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

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


def noise(family: Sequence[Spread]) -> list[Noise]:
    return [_noise(own, [*family[:at], *family[at + 1 :]]) for at, own in enumerate(family)]


def _noise(own: Spread, others: Sequence[Spread]) -> Noise:
    variance = max(own.variance, FLOOR)
    if not others or _noisier(own, others):
        return Noise(variance, own.freedom)
    everything = [own, *others]
    return Noise(max(variance, _pooled(everything)), min(_freedom(everything), 2 * own.freedom))


def _noisier(own: Spread, others: Sequence[Spread]) -> bool:
    """With two loads a noisy comparison often looks quiet by chance: it is believed less."""
    from scipy.special import fdtr

    chance = 1 - float(fdtr(own.freedom, _freedom(others), max(own.variance, FLOOR) / _pooled(others)))
    return chance < (NOISIER_OF_TWO if own.freedom == 1 else NOISIER)


def _pooled(family: Sequence[Spread]) -> float:
    return sum(each.freedom * max(each.variance, FLOOR) for each in family) / sum(each.freedom for each in family)


def _freedom(family: Sequence[Spread]) -> float:
    """Differences from one base correlate by a half, their squares by a quarter: k of them count as k/(1+(k-1)/4)."""
    count = Counter(each.base for each in family)
    return sum(each.freedom / (1 if each.base is None else 1 + (count[each.base] - 1) / 4) for each in family)
