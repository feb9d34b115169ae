"""Where the steady part of a series begins, and whether it is one.

The start by MSER-5 (White 1997): of all starts within the first half, the one whose mean is known best, judged by means
of five neighbours. Then the rest is tested: where its batch means (about sqrt(n) of them, for neighbours depend on each
other) go with time, and the line through them changes by more than a little, the series has no steady state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FEWEST = 60  # points: of fewer, too little is seen of a drift to say that there is none
MEAN_OF = 5
CHANCE, CHANGE = 0.01, 0.05  # of a trend without a cause; of the mean, from the start of the steady part to its end
_PERFECT = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class SteadyState:
    start: int  # index of its first point
    mean: float
    change: float  # of the line through it, from end to end, relative to the mean
    chance: float  # of so clear a trend in a series without one

    @property
    def holds(self) -> bool:
        return self.chance >= CHANCE or abs(self.change) <= CHANGE


def steady(series: Sequence[float]) -> SteadyState | None:
    """None where there are too few points, or nothing was done."""
    import numpy as np

    if len(series) < FEWEST:
        return None
    values = np.asarray(series, dtype=float)
    if values.mean() <= 0:
        return None
    start = _start(values)
    rest = values[start:]
    change, chance = _trend(rest)
    mean = float(rest.mean())
    return SteadyState(start, mean, change / mean if mean > 0 else 0.0, chance)


def _start(values: Array) -> int:
    import numpy as np

    count = len(values) // MEAN_OF
    means = values[: count * MEAN_OF].reshape(count, MEAN_OF).mean(axis=1)
    left = np.arange(count, 0, -1)
    sums, squares = (np.cumsum(each[::-1])[::-1] for each in (means, means * means))
    errors = (squares - sums * sums / left) / left**2
    return int(errors[: count // 2 + 1].argmin()) * MEAN_OF


def _trend(values: Array) -> tuple[float, float]:
    """Change over all of it, and the chance of such a correlation with time (Fisher's z)."""
    import numpy as np

    size = math.ceil(math.sqrt(len(values)))
    count = len(values) // size
    batches = values[len(values) - count * size :].reshape(count, size).mean(axis=1)
    time = np.arange(count)
    if not batches.std():
        return 0.0, 1.0
    correlation = float(np.corrcoef(time, batches)[0, 1])
    slope = correlation * float(batches.std() / time.std())
    score = math.atanh(max(-_PERFECT, min(correlation, _PERFECT))) * math.sqrt(count - 3)
    return slope * len(values) / size, 2 * NormalDist().cdf(-abs(score))
