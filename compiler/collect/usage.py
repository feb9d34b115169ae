"""What a step used of the host, its device and its processes, from its samples; by iostat's and vmstat's definitions.

Rates are over the whole window. Request sizes and waiting times are means of per-sample ratios, as the published
tables have them; a sample without requests has no ratio. The last interval is what is left of a second when the step
ends: as a ratio it would count as much as a whole one, so it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.collect import measurement
from compiler.collect.measurement import Window
from compiler.collect.samples import SERIES, Named, Samples, named, read
from compiler.store import jsonfile

if TYPE_CHECKING:
    from compiler.collect.sample import Process, Sample
    from compiler.collect.trace import Array

Record = Mapping[str, Any]  # of the step, by the one who ran it


class Usage:
    """Of one step: the so-manieth of its samples."""

    def __init__(self, record: Record, samples: Samples, index: int, whole: Usage | None = None) -> None:
        self._record, self._all, self._index = record, samples, index
        self._whole = whole  # the whole step, where this is a part of it
        self._samples = samples.steps[index]

    def within(self, window: Window | None) -> Usage:
        """Of the part that was measured; itself where that is all."""
        part = measurement.within(self._samples, window)
        return self if len(part) == len(self._samples) else Usage(self._record, Samples([part]), 0, self)

    def after(self) -> dict[str, float]:
        """Of what came after a part."""
        known, end = (self._processes(), self._whole._processes()) if self._whole else ([], [])
        if not known:
            return {}
        last, used = known[-1], _used(self._record)
        wrote, cpu = _passed(last.write_bytes, end[-1].write_bytes), last.user + last.system
        found = {"drain_write_bytes": wrote, "drain_cpu_seconds": None if used is None else max(0.0, used - cpu)}
        return {name: value for name, value in found.items() if value is not None and value == value}

    def series(self) -> Array:
        """By interval between two samples: a row for each column of the table `samples`."""
        return self._all.series[self._index]

    def figures(self, ops: float | None) -> dict[str, float]:
        """Averages over the step; a figure whose inputs are missing is absent."""
        every = (self._whole or self)._samples
        said = {**self._sensors(), "database_bytes": _last(each.database_bytes for each in every)}
        own = {**self._client(), **self._server()}
        own |= _engine(own)
        return {
            **self._all.over[self._index],
            **self._all.means[self._index],
            **{name: value for name, value in {**said, **own}.items() if value is not None},
            **(_per_operation(own, self._all.work[self._index], ops) if ops else {}),
        }

    def _processes(self) -> list[Process]:
        return [sample.process for sample in self._samples if sample.process]

    def _sensors(self) -> dict[str, float | None]:
        found = [sample.sensors for sample in self._samples if sample.sensors]
        return {
            "cpu_celsius_max": max(_known(each.celsius for each in found), default=None),
            "cpu_throttles": _passed(found[0].throttles, found[-1].throttles) if len(found) > 1 else None,
        }

    def _client(self) -> dict[str, float | None]:
        """The step's own processes began with it: what they had used when last seen is what the step used."""
        known = self._processes()
        resident = _resident(known)
        part = bool(self._whole)
        return {
            "client_cpu_seconds": _cpu(known) if part else _used(self._record),
            "process_rss_bytes": max(resident) if len(resident) > 1 else None,  # the first is of a process that begins
            "process_max_rss_bytes": self._record.get("max_rss"),
            "process_read_bytes": _read(known) if part else _last(each.read_bytes for each in known),
            "process_write_bytes": _written(known) if part else _last(each.write_bytes for each in known),
        }

    def _server(self) -> dict[str, float | None]:
        """A server ran before the step, and goes on after it."""
        known = [sample.server for sample in self._samples if sample.server]
        if len(known) < 2:
            return {}
        return {
            "server_cpu_seconds": _cpu(known),
            "server_rss_bytes": max(_resident(known), default=None),
            "server_read_bytes": _read(known),
            "server_write_bytes": _written(known),
        }


def usages(folders: Sequence[Path], records: Sequence[Record]) -> list[Usage | ValueError]:
    """One per step of a result; what is wrong with its samples where they cannot be read."""
    found = [_tried(folder) for folder in folders]
    samples = Samples([[] if isinstance(each, ValueError) else each for each in found])
    return [
        each if isinstance(each, ValueError) else Usage(record, samples, at)
        for at, (record, each) in enumerate(zip(records, found, strict=True))
    ]


def of(folder: Path) -> Usage:
    """Of one step alone."""
    return Usage(jsonfile.read(folder / "step.json"), Samples([read(folder)]), 0)


def usage(folder: Path, ops: float | None) -> dict[str, float]:
    return of(folder).figures(ops)


def series(folder: Path) -> list[Named]:
    """A row per interval, without what is missing in it."""
    return named(SERIES, of(folder).series())


def _tried(folder: Path) -> Sequence[Sample] | ValueError:
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


def _cpu(known: Sequence[Process]) -> float | None:
    user, system = _over(known, lambda each: each.user), _over(known, lambda each: each.system)
    return None if user is None or system is None else user + system


def _read(known: Sequence[Process]) -> float | None:
    return _over(known, lambda each: each.read_bytes)


def _written(known: Sequence[Process]) -> float | None:
    return _over(known, lambda each: each.write_bytes)


def _over(known: Sequence[Process], counter: Callable[[Process], float]) -> float | None:
    """From the first to the last."""
    return _passed(counter(known[0]), counter(known[-1])) if len(known) > 1 else None


def _passed(before: float, after: float) -> float | None:
    """None where one is missing, or it went back."""
    return after - before if after >= before else None


def _resident(known: Iterable[Process]) -> list[float]:
    return [each.rss for each in known if each.rss > 0]  # one that has ended has 0


def _known(values: Iterable[float]) -> Iterator[float]:
    return (value for value in values if value == value)  # NaN is unlike itself


def _last(values: Iterable[float]) -> float | None:
    return next(_known(reversed(list(values))), None)
