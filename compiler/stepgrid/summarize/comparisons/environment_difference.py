"""What was not alike where a figure and its base were measured: the host, its settings, and the time between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from stepgrid.host.pseudonym import pseudonym
from stepgrid.model.units import duration
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.data.parquet_reader import Run

FAR_APART = timedelta(days=7).total_seconds()  # where the spec does not say `compare_within`
SETTINGS = {
    "kernel": "kernel",
    "microcode": "microcode",
    "governor": "governor",
    "turbo": "turbo",
    "smt": "SMT",
    "thp": "THP",
}
_NOTHING: Mapping[str, str] = {}
HOST = "hostname"  # that it differs is said, not what it is


@dataclass(frozen=True)
class EnvironmentDifference:
    hosts: Mapping[str, Mapping[str, str]]  # stage/attempt -> name -> value
    within: float | None = None  # seconds

    def marks(self, point: Point, base: Point) -> tuple[str, ...]:
        """Of one ratio: `kernel 6.1.0 / 6.18.0`, the base's first."""
        return (*self._settings(point, base), *self._times(point, base))

    def _settings(self, point: Point, base: Point) -> Iterator[str]:
        if len({id(self._seen(run)) for each in (base, point) for run in each.runs}) == 1:
            return
        if self._is_on_another_host(point, base):
            yield "another host"
        for name, word in SETTINGS.items():
            values = [dict.fromkeys(self._values(each.runs, name)) for each in (base, point)]
            if all(values) and len({*values[0], *values[1]}) > 1:
                yield f"{word} {' / '.join({**values[0], **values[1]})}"

    def _is_on_another_host(self, point: Point, base: Point) -> bool:
        """A host is a block: a ratio is of one load at a time, and each load may have a host of its own."""
        loads = {run.load for run in point.runs} & {run.load for run in base.runs}
        if not loads:
            return self._hosts_differ(base.runs, point.runs)
        parts = ([[run for run in each.runs if run.load == load] for each in (base, point)] for load in loads)
        return any(self._hosts_differ(*part) for part in parts)

    def _hosts_differ(self, *arms: Sequence[Run]) -> bool:
        """What was exported here and came back is of the host that it is of."""
        names = [{*map(pseudonym, self._values(runs, HOST))} for runs in arms]
        return all(names) and len(names[0] | names[1]) > 1

    def _values(self, runs: Iterable[Run], name: str) -> Iterator[str]:
        return (found[name] for run in runs if name in (found := self._seen(run)))

    def _seen(self, run: Run) -> Mapping[str, str]:
        return self._known.get(f"{run.place[0]}/{run.attempt}", _NOTHING)

    @cached_property
    def _known(self) -> Mapping[str, Mapping[str, str]]:
        """What counts here, of each result: the same object where it is the same."""
        alike: dict[tuple[str | None, ...], Mapping[str, str]] = {}
        names = (HOST, *SETTINGS)
        return {subject: alike.setdefault(tuple(map(facts.get, names)), facts) for subject, facts in self.hosts.items()}

    def _times(self, point: Point, base: Point) -> Iterator[str]:
        """Between the runs of one load, the largest."""
        limit = FAR_APART if self.within is None else self.within
        times = {(run.load, run.run): run.started for run in base.runs if run.started}
        gaps = [gap for run in point.runs if (gap := _gap(run, times.get((run.load, run.run)))) is not None]
        if gaps and max(gaps) > limit:
            yield f"measured {duration(max(gaps))} from the base"


def _gap(run: Run, base: datetime | None) -> float | None:
    return abs((run.started - base).total_seconds()) if run.started and base else None
