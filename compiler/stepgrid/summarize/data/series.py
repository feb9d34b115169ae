"""The seconds of every run: what they come to is kept by result, so that few of them are read again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from stepgrid.collect.tables import parquet, part_index, table_views
from stepgrid.summarize.cache import report_cache
from stepgrid.summarize.data.series_summary import Array, Heard, Place, Seconds, heard
from stepgrid.summarize.statistics.timeseries import Relative, Steadiness, relative

Pairs: TypeAlias = tuple[tuple[float, float], ...]
Fetch: TypeAlias = Callable[[Collection[str]], Seconds]  # those of some stages


class Series(Mapping[Place, Pairs]):
    """`fetch` reads what is asked for and not there yet."""

    def __init__(self, known: Mapping[Place, Heard], fetch: Fetch) -> None:
        self.heard, self._fetch = known, fetch
        self._there: dict[str, Seconds] = {}

    def __getitem__(self, place: Place) -> Pairs:
        times, rates = self._of(place)
        return tuple(zip(times.tolist(), rates.tolist(), strict=True))

    def __contains__(self, place: object) -> bool:
        return place in self.heard

    def __iter__(self) -> Iterator[Place]:
        return iter(self.heard)

    def __len__(self) -> int:
        return len(self.heard)

    def need(self, places: Iterable[Place]) -> None:
        """At once: each look at the files takes its time."""
        if missing := {stage for stage, _ in places} - self._there.keys():
            self._there |= dict.fromkeys(missing, self._fetch(missing))

    def relative(self, places: Sequence[Place]) -> Relative | None:
        """Of runs one behind the other."""
        known = [place for place in places if place in self.heard]
        if len(known) == 1:
            return self.heard[known[0]].relative
        return relative(np.concatenate([self._of(place)[1] for place in known])) if known else None

    @property
    def steadiness(self) -> dict[Place, Steadiness]:
        return {place: each.steadiness for place, each in self.heard.items() if each.steadiness}

    def _of(self, place: Place) -> tuple[Array, Array]:
        if place not in self.heard:
            raise KeyError(place)
        self.need([place])
        found = self._there[place[0]]
        return found.times[found.parts[place]], found.rates[found.parts[place]]


def read(folder: Path, stages: Collection[str]) -> Series:
    """`folder`: of the tables, which say what each stage was read from."""
    results = {
        stage: " ".join(map(str, entry)) for part in part_index.read(folder) for stage, entry in part.results.items()
    }
    keys = {stage: f"{stage} {results[stage]}" for stage in stages if stage in results}
    book, found = report_cache.book("series"), dict[Place, Heard]()
    known = {stage: said for stage, key in keys.items() if (said := book.get(key)) is not None}
    for stage, said in known.items():
        found |= {(stage, position): Heard.of(*rest) for position, *rest in said}
    if missing := (keys or dict.fromkeys(stages)).keys() - known.keys():
        new = dict(heard(_read(folder, missing if known else None)))
        found |= new
        _keep(new, {stage: key for stage, key in keys.items() if stage in missing})
    return Series(found, partial(_read, folder))


def made(series: Mapping[Place, Sequence[tuple[float, float]]]) -> Series:
    """Of pairs."""
    times, rates = np.array([pair for pairs in series.values() for pair in pairs], dtype=float).reshape(-1, 2).T
    seconds = Seconds(_parts((*place, len(pairs)) for place, pairs in series.items()), times, rates)
    return Series(dict(heard(seconds)), lambda _: seconds)


def _keep(found: Mapping[Place, Heard], keys: Mapping[str, str]) -> None:
    by_stage: dict[str, list[Sequence[object]]] = defaultdict(list)
    for (stage, position), each in found.items():
        by_stage[stage].append([position, *each.said()])
    for stage, key in keys.items():
        report_cache.book("series").put(key, by_stage[stage])


def _read(folder: Path, stages: Collection[str] | None) -> Seconds:
    """Of all stages, or of some."""
    source = table_views.source(folder, "series")
    if stages is not None:
        source += f" WHERE stage IN ({', '.join(map(parquet.quoted, sorted(stages)))})"
    with parquet.connect() as connection:
        order = "GROUP BY stage, position ORDER BY stage, position"
        counts = connection.execute(f"SELECT stage, position, count(*) FROM {source} {order}").fetchall()
        rows = f"SELECT second, qps FROM {source} ORDER BY stage, position, second, qps"
        found = connection.execute(rows).fetchnumpy()
    return Seconds(_parts(counts), *(np.ma.filled(found[name].astype(float), np.nan) for name in ("second", "qps")))


def _parts(counts: Iterable[tuple[str, int, int]]) -> dict[Place, slice]:
    found: dict[Place, slice] = {}
    begin = 0
    for stage, position, count in counts:
        if count:
            found[stage, position] = slice(begin, begin + count)
        begin += count
    return found
