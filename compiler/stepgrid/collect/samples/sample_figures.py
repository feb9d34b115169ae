"""The samples of some steps, worked out together: numpy costs more to call than to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.collect.samples.gauges import AT_THE_END, AVERAGED, RESIDENT, at_the_end, averaged
from stepgrid.collect.samples.rates import RATES, RATIOS, WORK, rates, ratios, work
from stepgrid.collect.samples.sample_arrays import Pairs, Trace
from stepgrid.host.file_reader import content

if TYPE_CHECKING:
    from stepgrid.collect.samples.sample_format import Array

NAME = "samples.jsonl"
PER_SECOND = (*RATES, *RATIOS, *AVERAGED, *AT_THE_END, *RESIDENT)
SERIES = ("second", *PER_SECOND)  # since the step's start, at the end of an interval
Named = Mapping[str, float]  # what is missing is not there


class Samples:
    """Lists have an entry for each step."""

    def __init__(self, steps: Sequence[Array]) -> None:
        self.steps = steps
        self._trace = Trace(steps)
        self._pairs = Pairs(self._trace)

    @cached_property
    def over(self) -> list[Named]:
        """RATES, from the first sample to the last."""
        return self._of_wholes(RATES, self._rates)

    @cached_property
    def work(self) -> list[Named]:
        """WORK, likewise."""
        return self._of_wholes(WORK, work(self._pairs))

    def _of_wholes(self, names: Sequence[str], values: Array) -> list[Named]:
        """A step of one sample has no last pair, which is of the whole."""
        last = [part.stop - 1 for part in self._pairs.parts if part.stop > part.start]
        found = iter(named(names, values[:, last]))
        return [next(found) if part.stop > part.start else {} for part in self._pairs.parts]

    @cached_property
    def means(self) -> list[Named]:
        """RATIOS of the whole intervals, and AVERAGED of the samples."""
        import numpy as np

        whole = [(part.start, max(part.stop - 1, part.start)) for part in self._pairs.parts]
        every = [(part.start, part.stop) for part in self._trace.parts]
        found = [_mean(self._ratios, whole), _mean(self._averaged, every)]
        return named((*RATIOS, *AVERAGED), np.concatenate(found))

    @cached_property
    def series(self) -> list[Array]:
        """By whole interval: a row for each of SERIES."""
        import numpy as np

        pairs, times = self._pairs, self._trace.times
        firsts = np.repeat([part.start for part in self._trace.parts], [part.stop - part.start for part in pairs.parts])
        passed = times[pairs.after] - times[firsts]
        gauges = np.concatenate([self._averaged, at_the_end(self._trace)])[:, pairs.after]
        every = np.concatenate([[passed], self._rates, self._ratios, gauges])
        return [every[:, part.start : max(part.stop - 1, part.start)] for part in pairs.parts]

    @cached_property
    def _rates(self) -> Array:
        return rates(self._pairs)

    @cached_property
    def _ratios(self) -> Array:
        return ratios(self._pairs)

    @cached_property
    def _averaged(self) -> Array:
        return averaged(self._trace)


def read(folder: Path) -> Array:
    """The step's samples, a row each; a last line that a kill has cut is left out."""
    from stepgrid.collect.samples.sample_format import decoded, numbers

    try:
        text = content(path := f"{folder}/{NAME}")
    except OSError:
        return numbers(())
    try:
        return numbers(decoded(text[: text.rfind(b"\n") + 1]))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def named(names: Sequence[str], values: Array) -> list[Named]:
    """By step, of a row for each name."""
    rows = values.T.tolist()
    return [{name: value for name, value in zip(names, row, strict=True) if value == value} for row in rows]


def _mean(values: Array, parts: Sequence[tuple[int, int]]) -> Array:
    """Of what is known in each part, by row."""
    import numpy as np

    known = values == values  # NaN is unlike itself
    sums, counts = (_added(each, parts) for each in (np.where(known, values, 0.0), known.astype(float)))
    return sums / np.where(counts > 0, counts, np.nan)


def _added(values: Array, parts: Sequence[tuple[int, int]]) -> Array:
    import numpy as np

    padded = np.concatenate([values, np.zeros((len(values), 1))], axis=1)  # a part may end with the last column
    edges = np.array(parts, int)
    found: Array = np.add.reduceat(padded, edges.ravel(), axis=1)[:, ::2]
    found[:, edges[:, 0] == edges[:, 1]] = 0.0  # of nothing it would be the first of the next
    return found
