"""The seconds of every run, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from stepgrid.collect import parquet, query
from stepgrid.summarize.data.series_summary import Place, Seconds, heard
from stepgrid.summarize.statistics.timeseries import Relative, Steadiness, relative

Pairs: TypeAlias = tuple[tuple[float, float], ...]


class Series(Mapping[Place, Pairs]):
    def __init__(self, seconds: Seconds) -> None:
        self.heard, self.seconds = dict(heard(seconds)), seconds

    def __getitem__(self, place: Place) -> Pairs:
        part = self.seconds.parts[place]
        return tuple(zip(self.seconds.times[part].tolist(), self.seconds.rates[part].tolist(), strict=True))

    def __contains__(self, place: object) -> bool:
        return place in self.heard

    def __iter__(self) -> Iterator[Place]:
        return iter(self.heard)

    def __len__(self) -> int:
        return len(self.heard)

    def relative(self, places: Sequence[Place]) -> Relative | None:
        """Of runs one behind the other."""
        known = [place for place in places if place in self.heard]
        if len(known) < 2:
            return self.heard[known[0]].relative if known else None
        return relative(np.concatenate([self.seconds.rates[self.seconds.parts[place]] for place in known]))

    @property
    def steadiness(self) -> dict[Place, Steadiness]:
        return {place: each.steadiness for place, each in self.heard.items() if each.steadiness}


def made(series: Mapping[Place, Sequence[tuple[float, float]]]) -> Series:
    """Of pairs."""
    times, rates = np.array([pair for pairs in series.values() for pair in pairs], dtype=float).reshape(-1, 2).T
    return Series(Seconds(_parts((*place, len(pairs)) for place, pairs in series.items()), times, rates))


def joined(first: Series, second: Series, renamed: Callable[[Place], Place]) -> Series:
    """`renamed`: the place that a run of the second has beside those of the first."""
    one, other = first.seconds, second.seconds
    behind = len(one.times)
    parts = {renamed(place): slice(part.start + behind, part.stop + behind) for place, part in other.parts.items()}
    times, rates = (np.concatenate(pair) for pair in ((one.times, other.times), (one.rates, other.rates)))
    return Series(Seconds({**parts, **one.parts}, times, rates))


def read(folder: Path) -> Series:
    """`folder`: of the tables."""
    source = query.table_source(folder, "series")
    with parquet.connect() as connection:
        order = "GROUP BY stage, position ORDER BY stage, position"
        counts = connection.execute(f"SELECT stage, position, count(*) FROM {source} {order}").fetchall()
        rows = f"SELECT second, qps FROM {source} ORDER BY stage, position, second, qps"
        found = connection.execute(rows).fetchnumpy()
    times, rates = (np.ma.filled(found[name].astype(float), np.nan) for name in ("second", "qps"))
    return Series(Seconds(_parts(counts), times, rates))


def _parts(counts: Iterable[tuple[str, int, int]]) -> dict[Place, slice]:
    found: dict[Place, slice] = {}
    begin = 0
    for stage, position, count in counts:
        if count:
            found[stage, position] = slice(begin, begin + count)
        begin += count
    return found
