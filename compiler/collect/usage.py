"""What a step used of the host, its device and its processes, from its samples; by iostat's and vmstat's definitions.

Rates are over the whole window. Request sizes and waiting times are means of per-sample ratios, as the published
tables have them; a sample without requests has no ratio. The last interval is what is left of a second when the step
ends: as a ratio it would count as much as a whole one, so it is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.collect import measurement
from compiler.collect.measurement import Window
from compiler.collect.samples import SERIES, Named, Samples, named, read
from compiler.collect.trace import Sample
from compiler.store import jsonfile

if TYPE_CHECKING:
    from compiler.collect.trace import Array

PROCESS, SERVER = "process", "server"
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
        known, end = (self._said(PROCESS), self._whole._said(PROCESS)) if self._whole else ([], [])
        if not known:
            return {}
        wrote, both = _passed([known[-1], end[-1]], "write_bytes"), ("user", "system")
        found = {} if wrote is None else {"drain_write_bytes": wrote}
        if all(name in each for name in both for each in (self._record, known[-1])):
            found["drain_cpu_seconds"] = max(0.0, sum(self._record[name] - known[-1][name] for name in both))
        return found

    def series(self) -> Array:
        """By interval between two samples: a row for each column of the table `samples`."""
        return self._all.series[self._index]

    def figures(self, ops: float | None) -> dict[str, float]:
        """Averages over the step; a figure whose inputs are missing is absent."""
        said = {**self._sensors(), "database_bytes": _last((self._whole or self)._samples, "database_bytes")}
        own = {**self._client(), **self._server()}
        own |= _engine(own)
        return {
            **self._all.over[self._index],
            **self._all.means[self._index],
            **{name: value for name, value in {**said, **own}.items() if value is not None},
            **(_per_operation(own, self._all.work[self._index], ops) if ops else {}),
        }

    def _said(self, group: str) -> list[Named]:
        return [sample[group] for sample in self._samples if group in sample]

    def _sensors(self) -> dict[str, float | None]:
        found = self._said("sensors")
        return {
            "cpu_celsius_max": max((each["celsius"] for each in found if "celsius" in each), default=None),
            "cpu_throttles": _passed(found, "throttles"),
        }

    def _client(self) -> dict[str, float | None]:
        """The step's own processes began with it: what they had used when last seen is what the step used."""
        known = self._said(PROCESS)
        resident = _resident(known)
        return {
            "client_cpu_seconds": _cpu(known) if self._whole else _used(self._record),
            "process_rss_bytes": max(resident) if len(resident) > 1 else None,  # the first is of a process that begins
            "process_max_rss_bytes": self._record.get("max_rss"),
            "process_read_bytes": (_passed if self._whole else _last)(known, "read_bytes"),
            "process_write_bytes": (_passed if self._whole else _last)(known, "write_bytes"),
        }

    def _server(self) -> dict[str, float | None]:
        """A server ran before the step, and goes on after it."""
        known = self._said(SERVER)
        if len(known) < 2:
            return {}
        return {
            "server_cpu_seconds": _cpu(known),
            "server_rss_bytes": max(_resident(known), default=None),
            "server_read_bytes": _passed(known, "read_bytes"),
            "server_write_bytes": _passed(known, "write_bytes"),
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


def _cpu(known: Sequence[Named]) -> float | None:
    user, system = _passed(known, "user"), _passed(known, "system")
    return None if user is None or system is None else user + system


def _passed(known: Sequence[Named], name: str) -> float | None:
    if len(known) < 2 or name not in known[0] or name not in known[-1] or known[-1][name] < known[0][name]:
        return None
    return known[-1][name] - known[0][name]


def _resident(known: Iterable[Named]) -> list[float]:
    return [process["rss"] for process in known if process.get("rss")]  # one that has ended has 0


def _last(known: Sequence[Mapping[str, Any]], name: str) -> float | None:
    return next((each[name] for each in reversed(known) if name in each), None)
