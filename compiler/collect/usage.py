"""What a step used of the host, its device and its processes, from its samples; by iostat's and vmstat's definitions.

Rates are over the whole window. Request sizes and waiting times are means of per-sample ratios, as the published
tables have them; a sample without requests has no ratio. The last interval is what is left of a second when the step
ends: as a ratio it would count as much as a whole one, so it is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.collect.rates import AT_THE_END, GAUGES, RATES, RATIOS
from compiler.collect.trace import Pairs, Sample, Trace

if TYPE_CHECKING:
    from compiler.collect.trace import Array

PROCESS, SERVER = "process", "server"


class Usage:
    """Of one step: its samples are read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._samples = read(folder)
        self._trace = Trace(self._samples)
        self._pairs = Pairs(self._trace)

    @cached_property
    def _rates(self) -> Mapping[str, Array]:
        if not len(self._pairs.seconds):
            return {}
        return {name: figure(self._pairs) for name, figure in {**RATES, **RATIOS}.items()}

    @cached_property
    def _gauges(self) -> Mapping[str, Array]:
        return {name: gauge(self._trace) for name, gauge in GAUGES.items()}

    def series(self) -> Mapping[str, Array]:
        """By interval between two samples: `second` since the step's start, and the rates of that interval."""
        pairs = self._pairs
        if not len(pairs):
            return {}
        after = pairs.after[:-1]
        last = {name: gauge(self._trace) for name, gauge in AT_THE_END.items()}
        gauges = {name: values[after] for name, values in {**self._gauges, **last}.items()}
        rates = {name: values[:-1] for name, values in self._rates.items()}
        return {"second": self._trace.times[after] - self._trace.times[0], **rates, **gauges}

    def figures(self, ops: float | None) -> dict[str, float]:
        """Averages over the step; a figure whose inputs are missing is absent."""
        figures = {**self._over(), **self._means(), **self._sensors(), **self._database()}
        figures |= {**self._client(_step(self._folder)), **self._server()}
        figures |= _engine(figures)
        if ops:
            figures |= self._per_operation(figures, ops)
        return {name: value for name, value in figures.items() if value is not None}

    def _over(self) -> dict[str, float | None]:
        return {name: _value(values[-1]) for name, values in self._rates.items() if name in RATES}

    def _means(self) -> dict[str, float | None]:
        ratios = {name: _mean(values[:-1]) for name, values in self._rates.items() if name in RATIOS}
        return {**ratios, **{name: _mean(values) for name, values in self._gauges.items()}}

    def _sensors(self) -> dict[str, float | None]:
        found = [sample["sensors"] for sample in self._samples if "sensors" in sample]
        return {
            "cpu_celsius_max": max((each["celsius"] for each in found if "celsius" in each), default=None),
            "cpu_throttles": _passed(found, "throttles"),
        }

    def _database(self) -> dict[str, float | None]:
        return {"database_bytes": _last(self._samples, "database_bytes")}

    def _client(self, step: Mapping[str, Any]) -> dict[str, float | None]:
        """The step's own processes began with it: what they had used when last seen is what the step used."""
        known = [sample[PROCESS] for sample in self._samples if PROCESS in sample]
        resident = _resident(known)
        user, system = step.get("user"), step.get("system")
        return {
            "client_cpu_seconds": None if user is None or system is None else user + system,
            "process_rss_bytes": max(resident) if len(resident) > 1 else None,  # the first is of a process that begins
            "process_max_rss_bytes": step.get("max_rss"),
            "process_read_bytes": _last(known, "read_bytes"),
            "process_write_bytes": _last(known, "write_bytes"),
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
            "reads_per_op": self._counted(ops, "device", "reads"),
            "read_kb_per_op": self._counted(2 * ops, "device", "read_sectors"),
            "writes_per_op": self._counted(ops, "device", "writes"),
            "write_kb_per_op": self._counted(2 * ops, "device", "write_sectors"),
        }

    def _counted(self, ops: float, *keys: str) -> float | None:
        """From the first sample to the last."""
        return _value(self._pairs.delta(*keys)[-1] / ops) if len(self._pairs.seconds) else None


def usage(folder: Path, ops: float | None) -> dict[str, float]:
    return Usage(folder).figures(ops)


def read(folder: Path) -> list[Sample]:
    """The step's samples; a last line that a kill has cut is left out."""
    try:
        text = (folder / "samples.jsonl").read_text(encoding="utf-8")
    except OSError:
        return []
    lines = text[: text.rfind("\n") + 1].split("\n")
    found: list[Sample] = json.loads(f"[{','.join(filter(None, lines))}]")
    return found


def _step(folder: Path) -> Mapping[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / "step.json").read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        return {}


def _engine(figures: dict[str, float | None]) -> dict[str, float | None]:
    """Client and server together; an engine within its client has one figure and no parts."""
    client, server = figures["client_cpu_seconds"], figures.get("server_cpu_seconds")
    if "server_cpu_seconds" not in figures:
        del figures["client_cpu_seconds"]
        return {"cpu_seconds": client}
    return {"cpu_seconds": None if client is None or server is None else client + server}


def _mean(values: Array) -> float | None:
    known = values[values == values]  # NaN is unlike itself
    return float(known.sum() / len(known)) if len(known) else None


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
    found = Usage(folder).series()
    rows = zip(*(values.tolist() for values in found.values()), strict=True)
    return [{name: value for name, value in zip(found, row, strict=True) if value == value} for row in rows]
