"""The seconds of every run: as arrays, as pairs where they are shown, and what they come to, worked out for all at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compiler.summarize.timeseries import Relative, Steadiness, relatives, steadiness

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Place = tuple[str, int]
Pairs = tuple[tuple[float, float], ...]
Array = NDArray[np.float64]
ORDER = "stage, position, second, qps"


class Heard(NamedTuple):
    """What a report says of all the seconds of a run."""

    count: int
    last: float  # its largest second
    top: float
    steadiness: Steadiness | None
    relative: Relative | None  # for the interval of a single load


class Series(Mapping[Place, Pairs]):
    def __init__(self, parts: Mapping[Place, slice], seconds: Array, rates: Array) -> None:
        self._parts, self._seconds, self._rates = parts, seconds, rates
        self.heard: Mapping[Place, Heard] = dict(self._heard())

    def __getitem__(self, place: Place) -> Pairs:
        part = self._parts[place]
        return tuple(zip(self._seconds[part].tolist(), self._rates[part].tolist(), strict=True))

    def __iter__(self) -> Iterator[Place]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def rates(self, place: Place) -> Array:
        part = self._parts.get(place, slice(0))
        return self._rates[part]

    @property
    def steadiness(self) -> dict[Place, Steadiness]:
        return {place: each.steadiness for place, each in self.heard.items() if each.steadiness}

    def _heard(self) -> Iterator[tuple[Place, Heard]]:
        """Series of one length are one matrix: numpy costs more to call than to run."""
        alike: dict[int, list[Place]] = defaultdict(list)
        for place, part in self._parts.items():
            alike[part.stop - part.start].append(place)
        for count, places in alike.items():
            seconds, rates = (
                np.array([each[self._parts[place]] for place in places]) for each in (self._seconds, self._rates)
            )
            ends = zip(seconds.max(axis=1).tolist(), rates.max(axis=1).tolist(), strict=True)
            said = zip(places, ends, steadiness(rates), relatives(rates), strict=True)
            for place, end, steady, relative in said:
                yield place, Heard(count, *end, steady, relative)


def read(connection: DuckDBPyConnection, source: str = "series") -> Series:
    counts = connection.execute(
        f"SELECT stage, position, count(*) FROM {source} GROUP BY stage, position ORDER BY stage, position"
    ).fetchall()
    found = connection.execute(f"SELECT second, qps FROM {source} ORDER BY {ORDER}").fetchnumpy()
    return _of(counts, *(np.ma.filled(found[name].astype(float), np.nan) for name in ("second", "qps")))


def made(series: Mapping[Place, Sequence[tuple[float, float]]]) -> Series:
    """Of pairs."""
    pairs = [pair for seconds in series.values() for pair in seconds]
    seconds, rates = np.array(pairs, dtype=float).reshape(-1, 2).T
    return _of([(*place, len(found)) for place, found in series.items()], seconds, rates)


def _of(counts: Iterable[tuple[str, int, int]], seconds: Array, rates: Array) -> Series:
    parts: dict[Place, slice] = {}
    begin = 0
    for stage, position, count in counts:
        if count:
            parts[stage, position] = slice(begin, begin + count)
        begin += count
    return Series(parts, seconds, rates)
