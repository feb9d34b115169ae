"""The samples of a step as arrays: one per counter, with NaN where a sample lacks it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from stepgrid.collect.samples.sample_format import PLACES, numbers, span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stepgrid.collect.samples.sample_format import Array

    Indices = NDArray[np.int64]

SHORT = 0.5  # seconds: an interval below it is what is left at the end


class Trace:
    """Of some steps, each as collect.sample.numbers has it; in `parts` are the samples of each."""

    def __init__(self, steps: Sequence[Array]) -> None:
        import numpy as np

        self.values = np.concatenate(steps or [numbers(())]).T
        ends = list(accumulate(map(len, steps)))
        self.parts = [slice(begin, end) for begin, end in zip((0, *ends), ends, strict=False)]

    @property
    def times(self) -> Array:
        return self.at("monotonic")

    def at(self, *keys: str) -> Array:
        found: Array = self.values[PLACES[keys]]
        return found


class Pairs:
    """Two samples each: of each step the whole intervals and, as its last pair, its first and its last sample."""

    def __init__(self, trace: Trace) -> None:
        import numpy as np

        self.trace = trace
        found = [_pairs(trace.times, part) for part in trace.parts]
        ends = np.cumsum([len(before) for before, _ in found]).tolist()
        self.parts = [slice(begin, end) for begin, end in zip((0, *ends), ends, strict=False)]
        self.before = np.concatenate([np.empty(0, int), *(before for before, _ in found)])
        self.after = np.concatenate([np.empty(0, int), *(after for _, after in found)])
        passed = trace.values[:, self.after] - trace.values[:, self.before]
        self.seconds: Array = passed[PLACES["monotonic",]]
        self._passed = np.where(passed >= 0, passed, np.nan)

    def delta(self, *keys: str) -> Array:
        """How far a counter went; NaN where either sample lacks it, or it went back (a device that was replaced)."""
        found: Array = self._passed[PLACES[keys]]
        return found

    def section(self, name: str) -> Array:
        """A row for each of its counters."""
        found: Array = self._passed[span(name)]
        return found


def _pairs(every: Array, part: slice) -> tuple[Indices, Indices]:
    import numpy as np

    times = every[part]
    if len(times) < 2 or not times[-1] > times[0]:
        return np.empty(0, int), np.empty(0, int)
    passed = np.diff(times)
    some = np.flatnonzero(passed > 0)
    whole = some[passed[some] >= SHORT]
    kept = (whole if len(whole) else some) + part.start  # of a step that is shorter than one, what there is
    return np.append(kept, part.start), np.append(kept + 1, part.stop - 1)


def column(values: Iterable[float]) -> Array:
    """One for each row of a matrix."""
    import numpy as np

    return np.array(list(values))[:, None]
