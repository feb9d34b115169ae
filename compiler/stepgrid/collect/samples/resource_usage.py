"""What a step used of the host, its device and its processes, from its samples; by iostat's and vmstat's definitions.

Rates are over the whole window, and so is what each operation took. Request sizes and waiting times are means of
per-sample ratios, as the published tables have them; a sample without requests has no ratio. The last interval is what
is left of a second when the step ends: as a ratio it would count as much as a whole one, so it is left out.

A step whose measured part is shorter than LEAST has too few samples: it has only what the kernel counted in all of it
(CPU, the IO of a server, max_rss), and what can be seen at its ends (the server's memory, the database's size).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.collect.samples.sample_figures import SERIES, Named, Samples, named, read
from stepgrid.host import file_reader

if TYPE_CHECKING:
    from stepgrid.collect.samples.sample_format import Array


Record = Mapping[str, Any]  # of the step, by the one who ran it
Group = Mapping[str, Sequence[float]]  # by counter, from sample to sample


class Usage:
    """Of one step: the so-manieth of its samples."""

    def __init__(
        self, record: Record, samples: Samples, index: int, whole: Usage | None = None, part: Measurement | None = None
    ) -> None:
        self.record, self._all, self._index = record, samples, index
        self._whole = whole or self  # with all samples, where these are of its measurement
        self._partial, self._weight = (part.partial, part.weight) if part else (False, 1.0)
        self._sparse = part is not None and part.sparse
        self.samples = samples.steps[index]  # as collect.sample.numbers has them

    def within(self, window: Window | None) -> Usage:
        """Of what was measured."""
        return measured([self], [window])[0]

    def after(self) -> dict[str, float]:
        """Of what came after a part."""
        if not self._partial or not (known := self._group("process"))["user"]:
            return {}
        then, end = (
            {name: each[-1] for name, each in group.items()} for group in (known, self._whole._group("process"))
        )
        found, used = {"drain_write_bytes": _passed(then["write_bytes"], end["write_bytes"])}, _used(self.record)
        if used is not None and (spent := then["user"] + then["system"]) == spent:
            found["drain_cpu_seconds"] = max(0.0, used - spent)
        return {name: value for name, value in found.items() if value is not None}

    def series(self) -> Array:
        """By interval between two samples: a row for each column of the table `samples`."""
        return self._all.series[self._index]

    def figures(self, ops: float | None) -> dict[str, float]:
        """Averages over the step; a figure whose inputs are missing is absent."""
        counts = {**self._client(), **self._server()}
        counts |= _engine(counts)
        size = _last(self._whole._column("database_bytes").tolist())
        figures = {**self._sampled(), **counts, "database_bytes": size}
        return {
            **{name: value for name, value in figures.items() if value is not None},
            **(_per_operation(counts, self._work(), ops) if ops else {}),
        }

    def _sampled(self) -> dict[str, float | None]:
        """What needs samples within the step, not at its ends alone."""
        if self._sparse:
            return {}
        process = self._whole._group("process")
        so_far, part = (_over, self._group("process")) if self._partial else (_last, process)
        return {
            **self._all.over[self._index],
            **self._all.means[self._index],
            **self._sensors(),
            # the first sample is of a process that begins, the last one of a process that has ended
            "process_rss_bytes": max(_resident(process["rss"][1:-1]), default=None),
            "process_read_bytes": so_far(part["read_bytes"]),
            "process_write_bytes": so_far(part["write_bytes"]),
        }

    def _work(self) -> Named:
        work = {} if self._sparse else self._all.work[self._index]
        return {name: value * self._weight for name, value in work.items()}

    def _cpu(self, known: Group) -> float | None:
        found = _cpu(known)
        return None if found is None else found * self._weight

    def _column(self, *keys: str) -> Array:
        from stepgrid.collect.samples.sample_format import PLACES

        found: Array = self.samples[:, PLACES[keys]]
        return found

    def _group(self, section: str) -> Group:
        """Of the samples that have some of it."""
        from stepgrid.collect.samples.sample_format import SECTIONS, span

        part = self.samples[:, span(section)]
        there = part[(part == part).any(axis=1)]  # NaN is unlike itself
        return dict(zip(SECTIONS[section].__struct_fields__, there.T.tolist(), strict=True))

    def _sensors(self) -> dict[str, float | None]:
        known = self._group("sensors")
        return {
            "cpu_celsius_max": max(_known(known["celsius"]), default=None),
            "cpu_throttles": _over(known["throttles"]),
        }

    def _client(self) -> dict[str, float | None]:
        """The step's own processes began with it: the kernel has what they used when they end."""
        return {
            "client_cpu_seconds": self._cpu(self._group("process")) if self._partial else _used(self.record),
            "process_max_rss_bytes": self.record.get("max_rss"),
        }

    def _server(self) -> dict[str, float | None]:
        """A server ran before the step, and goes on after it."""
        known = self._group("server")
        if len(known["user"]) < 2:
            return {}
        return {
            "server_cpu_seconds": self._cpu(known),
            "server_rss_bytes": max(_resident(known["rss"]), default=None),
            "server_read_bytes": _over(known["read_bytes"]),
            "server_write_bytes": _over(known["write_bytes"]),
        }


def usages(folders: Sequence[Path], records: Sequence[Record]) -> list[Usage | ValueError]:
    """One per step of a result; what is wrong with its samples where they cannot be read."""
    found = [_tried(folder) for folder in folders]
    from stepgrid.collect.samples.sample_format import numbers

    samples = Samples([numbers(()) if isinstance(each, ValueError) else each for each in found])
    return [
        each if isinstance(each, ValueError) else Usage(record, samples, at)
        for at, (record, each) in enumerate(zip(records, found, strict=True))
    ]


def measured(steps: Sequence[Usage], windows: Sequence[Window | None]) -> list[Usage]:
    """Of what was measured of each step, all at once."""
    parts = [measurement(step.samples, window, step.record) for step, window in zip(steps, windows, strict=True)]
    samples = Samples([part.samples for part in parts])
    return [
        Usage(step.record, samples, at, step, part) for at, (step, part) in enumerate(zip(steps, parts, strict=True))
    ]


def of(folder: Path) -> Usage:
    """Of one step alone, with all its samples."""
    return Usage(file_reader.read(folder / "step.json"), Samples([read(folder)]), 0)


def usage(folder: Path, ops: float | None) -> dict[str, float]:
    return of(folder).within(None).figures(ops)


def series(folder: Path) -> list[Named]:
    """A row per interval, without what is missing in it."""
    return named(SERIES, of(folder).series())


def _tried(folder: Path) -> Array | ValueError:
    try:
        return read(folder)
    except ValueError as error:
        return error


def _engine(figures: dict[str, float | None]) -> dict[str, float | None]:
    """Client and server together; an engine within its client has one figure and no parts."""
    client, server = figures["client_cpu_seconds"], figures.get("server_cpu_seconds")
    if "server_cpu_seconds" not in figures:
        del figures["client_cpu_seconds"]
        return {"cpu_seconds": client}
    return {"cpu_seconds": None if client is None or server is None else client + server}


def _per_operation(used: Mapping[str, float | None], work: Named, ops: float) -> dict[str, float]:
    parts = {name: used.get(f"{name}_seconds") for name in ("cpu", "client_cpu", "server_cpu")}
    return {
        **{f"{name}_us_per_op": seconds * 1e6 / ops for name, seconds in parts.items() if seconds is not None},
        **{name: value / ops for name, value in work.items()},
    }


def _used(process: Mapping[str, float]) -> float | None:
    user, system = process.get("user"), process.get("system")
    return None if user is None or system is None else user + system


def _cpu(known: Group) -> float | None:
    user, system = _over(known["user"]), _over(known["system"])
    return None if user is None or system is None else user + system


def _over(values: Sequence[float]) -> float | None:
    """From the first to the last."""
    return _passed(values[0], values[-1]) if len(values) > 1 else None


def _passed(before: float, after: float) -> float | None:
    """None where one is missing, or it went back."""
    return after - before if after >= before else None


def _resident(values: Sequence[float]) -> list[float]:
    return [value for value in values if value > 0]  # one that has ended has 0


def _known(values: Iterable[float]) -> Iterator[float]:
    return (value for value in values if value == value)


def _last(values: Sequence[float]) -> float | None:
    return next(_known(reversed(values)), None)


# The part of a step's samples that was measured, cut at its ends: between two samples counters grow evenly.
#
# What a step was opened before, what it drained afterwards, and what was sampled when it had ended already is not in
# it.

Window = tuple[float, float]  # seconds since the step's start
LEAST = 2.0  # seconds, two periods of the sampler: of less, most would be guessed between the samples at both ends
SLIGHT = 0.02  # seconds, two ticks of the kernel's clock: what is left out is too little to be seen in a process
LATEST = 5.0  # seconds from a step's start to its first sample, at most; else a clock was set


class Measurement(NamedTuple):
    samples: Array
    partial: bool  # a part of the step, and not all of it
    weight: float = 1.0  # its seconds, by those that the samples have
    sparse: bool = False  # shorter than LEAST: then all samples are kept


def measurement(samples: Array, window: Window | None, record: Mapping[str, Any]) -> Measurement:
    """All samples where nothing says how long the step took, or where the window has no time."""
    if len(samples) < 2:
        return Measurement(samples, False, sparse=True)
    seconds = record.get("seconds")
    ends = window if window is not None else (0.0, float(seconds)) if isinstance(seconds, int | float) else None
    moments, late = _moments(samples), _late(samples, record)
    length = moments[-1] - moments[0] if ends is None else ends[1] - ends[0]
    if ends is None or length < LEAST - SLIGHT:
        return Measurement(samples, False, sparse=length < LEAST - SLIGHT)
    begin, end = (min(max(moments[0] + edge - late, moments[0]), moments[-1]) for edge in ends)
    if not end > begin:
        return Measurement(samples, False)
    partial = window is not None and moments[-1] - moments[0] - (end - begin) > SLIGHT
    return Measurement(_between(samples, moments, begin, end), partial, (ends[1] - ends[0]) / (end - begin))


def _between(samples: Array, moments: list[float], begin: float, end: float) -> Array:
    """Counters at the edges as if they grew evenly from one sample to the next."""
    first, last = bisect_right(moments, begin) - 1, bisect_left(moments, end)
    found = samples[first : last + 1].copy()
    if begin > moments[first]:
        found[0] = _edge(samples, moments, first, begin)
    if end < moments[last]:
        found[-1] = _edge(samples, moments, last - 1, end)
    return found


def _edge(samples: Array, moments: list[float], before: int, moment: float) -> Array:
    share = (moment - moments[before]) / (moments[before + 1] - moments[before])
    found: Array = samples[before] + share * (samples[before + 1] - samples[before])
    return found


def _late(samples: Array, record: Mapping[str, Any]) -> float:
    """Seconds from the step's start to its first sample."""
    from stepgrid.collect.samples.sample_format import PLACES

    try:
        found = float(samples[0, PLACES["t",]]) - datetime.fromisoformat(record["started"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return 0.0
    return found if 0 < found < LATEST else 0.0


def _moments(samples: Array) -> list[float]:
    from stepgrid.collect.samples.sample_format import PLACES

    found: list[float] = samples[:, PLACES["monotonic",]].tolist()
    return found
