"""What was not alike where a figure and its base were measured: the host, its settings, and the time between them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from statistics import median

from stepgrid.host.facts import pseudonym
from stepgrid.model.units import duration
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run

FAR_APART = timedelta(days=7).total_seconds()  # where the spec does not say `compare_within`
SPACINGS = 2  # a block is as long as its loads lie apart; orders by chance make that up to twice as long
LEAST_GAP = 600.0  # seconds, however close the loads of an experiment lie
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
HARDWARE = {"cpu": "CPU", "cores": "cores", "architecture": "architecture"}  # with the name, what makes a host another
OTHER_HOST = "measured on different hosts"


@dataclass(frozen=True)
class EnvironmentDifference:
    hosts: Mapping[str, Mapping[str, str]]  # stage/attempt -> name -> value
    within: float | None = None  # seconds
    machines: Mapping[str, str] = field(default_factory=dict)  # by stage, where the plan has several
    across_hosts: bool = False  # two sets of results are compared, wherever they are from

    def caveat(self, point: Point, base: Point) -> str | None:
        """Why they get no verdict: one comparison is of one host, or hardware is what it compares."""
        differences = [] if self._compares_hosts(point, base) else self._other_host(point, base)
        parts = "; ".join(filter(None, differences))
        return f"{OTHER_HOST}{f': {parts}' if parts else ''}" if differences else None

    def _compares_hosts(self, point: Point, base: Point) -> bool:
        sides = ({self.machines.get(run.place[0]) for run in side.runs} for side in (point, base))
        return self.across_hosts or next(sides) != next(sides)

    def marks(self, point: Point, base: Point) -> tuple[str, ...]:
        """Of one ratio: `kernel 6.1.0 / 6.18.0`, the base's first."""
        return (*self._settings(point, base), *self._times(point, base))

    def _settings(self, point: Point, base: Point) -> Iterator[str]:
        if len({id(self._seen(run)) for each in (base, point) for run in each.runs}) == 1:
            return
        if self._compares_hosts(point, base) and self._other_host(point, base):
            yield "another host"
        for name, word in SETTINGS.items():
            values = [dict.fromkeys(self._values(each.runs, name)) for each in (base, point)]
            if all(values) and len({*values[0], *values[1]}) > 1:
                yield f"{word} {' / '.join({**values[0], **values[1]})}"

    def _other_host(self, point: Point, base: Point) -> list[str]:
        """Each fact that differs, in words. A host is a block: each load may have a host of its own."""
        sides = [[*base.runs], [*point.runs]]
        loads = {run.load for run in base.runs} & {run.load for run in point.runs}
        blocks = [[[run for run in runs if run.load == load] for runs in sides] for load in loads] or [sides]
        differences: dict[str, str] = {}
        for block in blocks:
            if len({id(self._seen(run)) for runs in block for run in runs}) == 1:
                continue
            for name in (HOST, *HARDWARE):
                values = [dict.fromkeys(self._values(runs, name)) for runs in block]
                if name == HOST:  # what was exported here and came back is of the host that it is of
                    values = [dict.fromkeys(map(pseudonym, names)) for names in values]
                if all(values) and len({*values[0], *values[1]}) > 1:
                    word = HARDWARE.get(name)
                    differences.setdefault(name, f"{word} {' / '.join({**values[0], **values[1]})}" if word else "")
        return list(differences.values())

    def _values(self, runs: Iterable[Run], name: str) -> Iterator[str]:
        return (found[name] for run in runs if name in (found := self._seen(run)))

    def _seen(self, run: Run) -> Mapping[str, str]:
        return self._known.get(f"{run.place[0]}/{run.attempt}", _NOTHING)

    @cached_property
    def _known(self) -> Mapping[str, Mapping[str, str]]:
        """What counts here, of each result: the same object where it is the same."""
        alike: dict[tuple[str | None, ...], Mapping[str, str]] = {}
        names = (HOST, "hardware", *SETTINGS)
        known = {}
        for subject, facts in self.hosts.items():
            key = tuple(map(facts.get, names))
            if key not in alike:
                hardware = json.loads(facts.get("hardware", "{}"))
                alike[key] = {**facts, **{name: str(hardware[name]) for name in HARDWARE if name in hardware}}
            known[subject] = alike[key]
        return known

    def _times(self, point: Point, base: Point) -> Iterator[str]:
        """Between the runs of one load, the largest; the spec's limit, else by how far apart its loads lie."""
        times = {(run.load, run.run): run.started for run in base.runs if run.started}
        gaps = [gap for run in point.runs if (gap := _gap(run, times.get((run.load, run.run)))) is not None]
        spacing = max(map(_spacing, (point.runs, base.runs)))
        one_host = len({*map(pseudonym, self._values((*point.runs, *base.runs), HOST))}) <= 1
        limit = FAR_APART if self.within is None else self.within
        if self.within is None and one_host:
            limit = min(FAR_APART, max(SPACINGS * spacing, LEAST_GAP))
        if gaps and max(gaps) > limit:
            yield f"measured {duration(max(gaps))} from the base"


def _spacing(runs: Iterable[Run]) -> float:
    """From the start of one load to that of the next, the median in seconds; of one load a week."""
    starts: dict[int, datetime] = {}
    for run in runs:
        if run.started:
            starts[run.load] = min(run.started, starts.get(run.load, run.started))
    ordered = sorted(starts.values())
    return median((after - before).total_seconds() for before, after in pairwise(ordered)) if ordered[1:] else FAR_APART


def _gap(run: Run, base: datetime | None) -> float | None:
    return abs((run.started - base).total_seconds()) if run.started and base else None
