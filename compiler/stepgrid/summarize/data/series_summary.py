"""What the seconds of a run come to: all that a report says of most of them, worked out for all of them at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepgrid.summarize.statistics.timeseries import Relative, Steadiness, relatives, steadiness

Place = tuple[str, int]  # stage, position of the step in it
Array = NDArray[np.float64]


class SeriesSummary(NamedTuple):
    length: int
    last: float  # its largest second
    top: float
    steadiness: Steadiness | None
    relative: Relative | None  # for the interval of a single load


class Seconds(NamedTuple):
    """Of some runs, one behind the other."""

    parts: Mapping[Place, slice]
    times: Array
    rates: Array


def heard(seconds: Seconds) -> Iterator[tuple[Place, SeriesSummary]]:
    """Series of one length are one matrix: numpy costs more to call than to run."""
    alike: dict[int, list[Place]] = defaultdict(list)
    for place, part in seconds.parts.items():
        alike[part.stop - part.start].append(place)
    for length, places in alike.items():
        times, rates = (np.array([each[seconds.parts[place]] for place in places]) for each in seconds[1:])
        ends = zip(times.max(axis=1).tolist(), rates.max(axis=1).tolist(), strict=True)
        for place, end, steady, mean in zip(places, ends, steadiness(rates), relatives(rates), strict=True):
            yield place, SeriesSummary(length, *end, steady, mean)
