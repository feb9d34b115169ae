"""What a step used of the host, its device and its processes, from its samples; by iostat's and vmstat's definitions.

Rates are over the whole window. Request sizes and waiting times are means of per-sample ratios, as the published
tables have them; a sample without requests has no ratio. The last interval is what is left of a second when the step
ends: as a ratio it would count as much as a whole one, so it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.collect import measurement
from compiler.collect.gauges import AVERAGED, at_the_end, averaged
from compiler.collect.measurement import Window
from compiler.collect.rates import RATIOS, SHARES, rates, ratios
from compiler.collect.trace import Pairs, Sample, Trace
from compiler.store import jsonfile

if TYPE_CHECKING:
    from compiler.collect.trace import Array

PROCESS, SERVER = "process", "server"
BUSY_SHARES = ("host_cpu_user_pct", "host_cpu_system_pct")


class Samples:
    """Of the steps of a result: worked out together, for numpy costs more to call than to run."""

    def __init__(self, steps: Sequence[Sequence[Sample]]) -> None:
        self.trace = Trace([sample for step in steps for sample in step], list(accumulate(map(len, steps))))
        self.pairs = Pairs(self.trace)

    @cached_property
    def rates(self) -> Mapping[str, Array]:
        return rates(self.pairs)

    @cached_property
    def ratios(self) -> Mapping[str, Array]:
        return ratios(self.pairs)

    @cached_property
    def averaged(self) -> Mapping[str, Array]:
        return averaged(self.trace)

    @cached_property
    def matrices(self) -> tuple[Array, Array]:
        """The ratios, and what is averaged: a row for each figure."""
        import numpy as np

        return np.array([self.ratios[name] for name in RATIOS]), np.array([self.averaged[name] for name in AVERAGED])

    @cached_property
    def at_the_end(self) -> Mapping[str, Array]:
        return at_the_end(self.trace)


class Usage:
    """Of one step: the so-manieth of its samples."""

    def __init__(self, folder: Path, samples: Samples, index: int, whole: Usage | None = None) -> None:
        self._folder, self._all, self._whole = folder, samples, whole  # the whole step, where this is a part of it
        self._part, self._pairs = samples.trace.parts[index], samples.pairs.parts[index]
        self._samples = samples.trace.samples[self._part]
        self._last = self._pairs.stop - 1 if self._pairs.stop > self._pairs.start else None  # the whole step

    def within(self, window: Window | None) -> Usage:
        """Of the part that was measured; itself where that is all."""
        part = measurement.within(self._samples, window)
        return self if len(part) == len(self._samples) else Usage(self._folder, Samples([part]), 0, self)

    def after(self) -> dict[str, float]:
        """Of what came after a part."""
        known, end = (self._processes(), self._whole._processes()) if self._whole else ([], [])
        step = jsonfile.read(f"{self._folder}/step.json")
        if not known:
            return {}
        wrote, both = _passed([known[-1], end[-1]], "write_bytes"), ("user", "system")
        found = {} if wrote is None else {"drain_write_bytes": wrote}
        if all(name in each for name in both for each in (step, known[-1])):
            found["drain_cpu_seconds"] = max(0.0, sum(step[name] - known[-1][name] for name in both))
        return found

    def _processes(self) -> list[Mapping[str, float]]:
        return [sample[PROCESS] for sample in self._samples if PROCESS in sample]

    def series(self) -> Mapping[str, Array]:
        """By interval between two samples: `second` since the step's start, and the rates of that interval."""
        if self._last in (None, self._pairs.start):
            return {}
        every, whole = self._all, slice(self._pairs.start, self._last)
        after, times = every.pairs.after[whole], every.trace.times
        gauges = {name: values[after] for name, values in {**every.averaged, **every.at_the_end}.items()}
        passed = {name: values[whole] for name, values in {**every.rates, **every.ratios}.items()}
        return {"second": times[after] - times[self._part.start], **passed, **gauges}

    def figures(self, ops: float | None) -> dict[str, float]:
        """Averages over the step; a figure whose inputs are missing is absent."""
        figures = {**self._over(), **self._means(), **self._sensors(), **self._database()}
        figures |= {**self._client(jsonfile.read(f"{self._folder}/step.json")), **self._server()}
        figures |= _engine(figures)
        if ops:
            figures |= self._per_operation(figures, ops)
        return {name: value for name, value in figures.items() if value is not None}

    def _over(self) -> dict[str, float | None]:
        if self._last is None:
            return {}
        return {name: _value(values[self._last]) for name, values in self._all.rates.items()}

    def _means(self) -> dict[str, float | None]:
        whole = slice(self._pairs.start, self._last)
        ratios = {} if self._last is None else _mean(RATIOS, self._all.matrices[0][:, whole])
        return {**ratios, **_mean(AVERAGED, self._all.matrices[1][:, self._part])}

    def _sensors(self) -> dict[str, float | None]:
        found = [sample["sensors"] for sample in self._samples if "sensors" in sample]
        return {
            "cpu_celsius_max": max((each["celsius"] for each in found if "celsius" in each), default=None),
            "cpu_throttles": _passed(found, "throttles"),
        }

    def _database(self) -> dict[str, float | None]:
        """At the end of the step."""
        whole = self._whole or self
        return {"database_bytes": _last(whole._samples, "database_bytes")}

    def _client(self, step: Mapping[str, Any]) -> dict[str, float | None]:
        """The step's own processes began with it: what they had used when last seen is what the step used."""
        known = self._processes()
        resident = _resident(known)
        if self._whole:
            user, system = _passed(known, "user"), _passed(known, "system")
        else:
            user, system = step.get("user"), step.get("system")
        return {
            "client_cpu_seconds": None if user is None or system is None else user + system,
            "process_rss_bytes": max(resident) if len(resident) > 1 else None,  # the first is of a process that begins
            "process_max_rss_bytes": step.get("max_rss"),
            "process_read_bytes": (_passed if self._whole else _last)(known, "read_bytes"),
            "process_write_bytes": (_passed if self._whole else _last)(known, "write_bytes"),
        }

    def _server(self) -> dict[str, float | None]:
        """A server ran before the step, and goes on after it."""
        known = [sample[SERVER] for sample in self._samples if SERVER in sample]
        if len(known) < 2:
            return {}
        user, system = _passed(known, "user"), _passed(known, "system")
        return {
            "server_cpu_seconds": None if user is None or system is None else user + system,
            "server_rss_bytes": max(_resident(known), default=None),
            "server_read_bytes": _passed(known, "read_bytes"),
            "server_write_bytes": _passed(known, "write_bytes"),
        }

    def _per_operation(self, figures: Mapping[str, float | None], ops: float) -> dict[str, float | None]:
        parts = {name: figures.get(f"{name}_seconds") for name in ("cpu", "client_cpu", "server_cpu")}
        return {
            **{f"{name}_us_per_op": None if used is None else used * 1e6 / ops for name, used in parts.items()},
            "context_switches_per_op": self._counted(ops, "switches"),
            "host_cpu_us_per_op": self._host_cpu(ops),
            "reads_per_op": self._counted(ops, "device", "reads"),
            "read_kb_per_op": self._counted(2 * ops, "device", "read_sectors"),
            "writes_per_op": self._counted(ops, "device", "writes"),
            "write_kb_per_op": self._counted(2 * ops, "device", "write_sectors"),
        }

    def _host_cpu(self, ops: float) -> float | None:
        used = [self._counted(ops / 1e6, "cpu", name) for share in BUSY_SHARES for name in SHARES[share]]
        known = [seconds for seconds in used if seconds is not None]
        return sum(known) if known else None

    def _counted(self, ops: float, *keys: str) -> float | None:
        """From the first sample to the last."""
        return None if self._last is None else _value(self._all.pairs.delta(*keys)[self._last] / ops)


def usages(folders: Sequence[Path]) -> list[Usage | ValueError]:
    """One per step of a result; what is wrong with its samples where they cannot be read."""
    found = [_tried(folder) for folder in folders]
    samples = Samples([[] if isinstance(each, ValueError) else each for each in found])
    every = zip(folders, found, strict=True)
    return [
        each if isinstance(each, ValueError) else Usage(folder, samples, at) for at, (folder, each) in enumerate(every)
    ]


def of(folder: Path) -> Usage:
    """Of one step alone."""
    return Usage(folder, Samples([read(folder)]), 0)


def usage(folder: Path, ops: float | None) -> dict[str, float]:
    return of(folder).figures(ops)


def _tried(folder: Path) -> Sequence[Sample] | ValueError:
    try:
        return read(folder)
    except ValueError as error:
        return error


def read(folder: Path) -> Sequence[Sample]:
    """The step's samples; a last line that a kill has cut is left out."""
    from pydantic_core import from_json  # as json.loads, in half its time

    try:
        with open(f"{folder}/samples.jsonl", "rb") as file:  # noqa: PTH123 - of 10,000
            content = file.read()
    except OSError:
        return []
    whole = content[: content.rfind(b"\n") + 1].strip(b"\n")
    while b"\n\n" in whole:
        whole = whole.replace(b"\n\n", b"\n")
    found: list[Sample] = from_json(b"[" + whole.replace(b"\n", b",") + b"]")
    return found


def _engine(figures: dict[str, float | None]) -> dict[str, float | None]:
    """Client and server together; an engine within its client has one figure and no parts."""
    client, server = figures["client_cpu_seconds"], figures.get("server_cpu_seconds")
    if "server_cpu_seconds" not in figures:
        del figures["client_cpu_seconds"]
        return {"cpu_seconds": client}
    return {"cpu_seconds": None if client is None or server is None else client + server}


def _mean(names: Iterable[str], values: Array) -> dict[str, float | None]:
    import numpy as np

    known = values == values  # NaN is unlike itself
    counts, sums = known.sum(axis=1).tolist(), np.where(known, values, 0.0).sum(axis=1).tolist()
    return {name: each / count if count else None for name, each, count in zip(names, sums, counts, strict=True)}


def _value(found: float) -> float | None:
    return None if math.isnan(found) else float(found)


def _passed(known: list[Mapping[str, float]], name: str) -> float | None:
    if len(known) < 2 or name not in known[0] or name not in known[-1] or known[-1][name] < known[0][name]:
        return None
    return known[-1][name] - known[0][name]


def _resident(known: Iterable[Mapping[str, float]]) -> list[float]:
    return [process["rss"] for process in known if process.get("rss")]  # one that has ended has 0


def _last(known: Iterable[Mapping[str, Any]], name: str) -> float | None:
    return next((each[name] for each in reversed(list(known)) if name in each), None)


def series(folder: Path) -> list[dict[str, float]]:
    """A row per interval, without what is missing in it."""
    found = of(folder).series()
    rows = zip(*(values.tolist() for values in found.values()), strict=True)
    return [{name: value for name, value in zip(found, row, strict=True) if value == value} for row in rows]
