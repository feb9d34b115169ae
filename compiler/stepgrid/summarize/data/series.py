"""QPS by second of every run, and a summary of each series."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stepgrid.collect import parquet, query
from stepgrid.summarize.statistics.time_series import Relative, Steadiness, relative, relatives, steadiness

Place = tuple[str, int]  # key of a step: its stage, and its position there
Pairs: TypeAlias = tuple[tuple[float, float], ...]
Array = NDArray[np.float64]


class SeriesSummary(NamedTuple):
    length: int
    last: float  # its largest second
    top: float
    steadiness: Steadiness | None
    relative: Relative | None  # for the interval of a single load


class Seconds(NamedTuple):
    """Seconds and rates of several runs, one run after the other."""

    parts: Mapping[Place, slice]
    times: Array
    rates: Array


class Series(Mapping[Place, Pairs]):
    """Pairs of second and QPS by run; pairs are made only for a run that is looked up."""

    def __init__(self, seconds: Seconds) -> None:
        self.summaries, self.seconds = dict(_summaries(seconds)), seconds

    def __getitem__(self, key: Place) -> Pairs:
        part = self.seconds.parts[key]
        return tuple(zip(self.seconds.times[part].tolist(), self.seconds.rates[part].tolist(), strict=True))

    def __contains__(self, key: object) -> bool:
        return key in self.summaries

    def __iter__(self) -> Iterator[Place]:
        return iter(self.summaries)

    def __len__(self) -> int:
        return len(self.summaries)

    def relative(self, keys: Sequence[Place]) -> Relative | None:
        """Compute the mean and its error of runs one after the other."""
        measured = [key for key in keys if key in self.summaries]
        if len(measured) < 2:
            return self.summaries[measured[0]].relative if measured else None
        return relative(np.concatenate([self.seconds.rates[self.seconds.parts[key]] for key in measured]))

    @cached_property
    def steadiness(self) -> dict[Place, Steadiness]:
        return {key: summary.steadiness for key, summary in self.summaries.items() if summary.steadiness}


def from_pairs(series: Mapping[Place, Sequence[tuple[float, float]]]) -> Series:
    times, rates = np.array([pair for pairs in series.values() for pair in pairs], dtype=float).reshape(-1, 2).T
    return Series(Seconds(_parts((*key, len(pairs)) for key, pairs in series.items()), times, rates))


def join(first: Series, second: Series, rename: Callable[[Place], Place]) -> Series:
    """Join two series; `rename` turns a key of the second into the one among those of the first."""
    one, other = first.seconds, second.seconds
    offset = len(one.times)
    parts = {rename(key): slice(part.start + offset, part.stop + offset) for key, part in other.parts.items()}
    times, rates = (np.concatenate(pair) for pair in ((one.times, other.times), (one.rates, other.rates)))
    return Series(Seconds({**parts, **one.parts}, times, rates))


def read(folder: Path) -> Series:
    """Read the series of a folder of tables."""
    source = query.table_source(folder, "series")
    with parquet.connect() as connection:
        order = "GROUP BY stage, position ORDER BY stage, position"
        counts = connection.execute(f"SELECT stage, position, count(*) FROM {source} {order}").fetchall()
        rows = f"SELECT second, qps FROM {source} ORDER BY stage, position, second, qps"
        columns = connection.execute(rows).fetchnumpy()
    times, rates = (np.ma.filled(columns[name].astype(float), np.nan) for name in ("second", "qps"))
    return Series(Seconds(_parts(counts), times, rates))


def _parts(counts: Iterable[tuple[str, int, int]]) -> dict[Place, slice]:
    parts: dict[Place, slice] = {}
    begin = 0
    for stage, position, count in counts:
        if count:
            parts[stage, position] = slice(begin, begin + count)
        begin += count
    return parts


def _summaries(seconds: Seconds) -> Iterator[tuple[Place, SeriesSummary]]:
    """Summarize all series of one length as one matrix: numpy costs more to call than to run."""
    keys_by_length: dict[int, list[Place]] = defaultdict(list)
    for key, part in seconds.parts.items():
        keys_by_length[part.stop - part.start].append(key)
    for length, keys in keys_by_length.items():
        times, rates = (
            np.array([column[seconds.parts[key]] for key in keys]) for column in (seconds.times, seconds.rates)
        )
        ends = zip(times.max(axis=1).tolist(), rates.max(axis=1).tolist(), strict=True)
        for key, end, steady, mean in zip(keys, ends, steadiness(rates), relatives(rates), strict=True):
            yield key, SeriesSummary(length, *end, steady, mean)
