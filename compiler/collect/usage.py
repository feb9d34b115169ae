"""What a step used of the host, its device and its processes, from its samples; by iostat's and vmstat's definitions.

Rates are over the whole window. Request sizes and waiting times are means of per-sample ratios, as the published
tables have them; a sample without requests has no ratio. The last interval is what is left of a second when the step
ends: as a ratio it would count as much as a whole one, so it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from compiler.collect.rates import GAUGES, RATES, RATIOS, Figure, Sample, at, delta, seconds

SHORT = 0.5  # seconds: an interval below it is what is left at the end
PROCESS, SERVER = "process", "server"


def usage(folder: Path, ops: float | None) -> dict[str, float]:
    """Averages over the step; a figure whose inputs are missing is absent."""
    samples = read(folder)
    step = _step(folder)
    figures = {**_over(samples, RATES), **_means(samples), **_sensors(samples), **_database(samples)}
    figures |= {**_client(samples, step), **_server(samples)}
    figures |= _engine(figures)
    if ops:
        figures |= _per_operation(figures, samples, ops)
    return {name: value for name, value in figures.items() if value is not None}


def series(folder: Path) -> list[dict[str, float]]:
    """A row per interval between two samples: `second` since the step's start, and the rates of that interval."""
    samples = read(folder)
    rows = []
    for before, after in _intervals(samples):
        rates = {name: figure(before, after) for name, figure in {**RATES, **RATIOS}.items()}
        row = {"second": after["monotonic"] - samples[0]["monotonic"], **rates, **_gauges(after)}
        rows.append({name: value for name, value in row.items() if value is not None})
    return rows


def read(folder: Path) -> list[Sample]:
    """The step's samples; a last line that a kill has cut is left out."""
    try:
        lines = (folder / "samples.jsonl").read_text(encoding="utf-8").split("\n")
    except OSError:
        return []
    return [json.loads(line) for line in lines[:-1] if line]


def _intervals(samples: list[Sample]) -> list[tuple[Sample, Sample]]:
    """The whole ones; of a step that is shorter than one, what there is."""
    pairs = [pair for pair in pairwise(samples) if seconds(*pair) > 0]
    return [pair for pair in pairs if seconds(*pair) >= SHORT] or pairs


def _step(folder: Path) -> Mapping[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / "step.json").read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        return {}


def _over(samples: list[Sample], figures: Mapping[str, Figure]) -> dict[str, float | None]:
    if len(samples) < 2 or seconds(samples[0], samples[-1]) <= 0:
        return {}
    return {name: figure(samples[0], samples[-1]) for name, figure in figures.items()}


def _means(samples: list[Sample]) -> dict[str, float | None]:
    pairs = _intervals(samples)
    ratios = {name: _mean(figure(*pair) for pair in pairs) for name, figure in RATIOS.items()}
    return {**ratios, **{name: _mean(map(gauge, samples)) for name, gauge in GAUGES.items()}}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _sensors(samples: Sequence[Sample]) -> dict[str, float | None]:
    found = [sample for sample in samples if "sensors" in sample]
    return {
        "cpu_celsius_max": _highest(at(sample, "sensors", "celsius") for sample in found),
        "cpu_throttles": delta(found[0], found[-1], "sensors", "throttles") if len(found) > 1 else None,
    }


def _database(samples: Sequence[Sample]) -> dict[str, float | None]:
    sizes = [sample["database_bytes"] for sample in samples if "database_bytes" in sample]
    return {"database_bytes": sizes[-1] if sizes else None}


def _client(samples: Sequence[Sample], step: Mapping[str, Any]) -> dict[str, float | None]:
    """The step's own processes began with it: what they had used when last seen is what the step used."""
    known = [sample[PROCESS] for sample in samples if PROCESS in sample]
    resident = _resident(known)
    user, system = step.get("user"), step.get("system")
    return {
        "client_cpu_seconds": None if user is None or system is None else user + system,
        "process_rss_bytes": max(resident) if len(resident) > 1 else None,  # the first is of a process that begins
        "process_max_rss_bytes": step.get("max_rss"),
        "process_read_bytes": _last(known, "read_bytes"),
        "process_write_bytes": _last(known, "write_bytes"),
    }


def _server(samples: Sequence[Sample]) -> dict[str, float | None]:
    """A server ran before the step, and goes on after it."""
    known = [sample for sample in samples if SERVER in sample]
    if len(known) < 2:
        return {}
    used = {name: delta(known[0], known[-1], SERVER, name) for name in ("user", "system", "read_bytes", "write_bytes")}
    user, system = used["user"], used["system"]
    return {
        "server_cpu_seconds": None if user is None or system is None else user + system,
        "server_rss_bytes": max(_resident([sample[SERVER] for sample in known]), default=None),
        "server_read_bytes": used["read_bytes"],
        "server_write_bytes": used["write_bytes"],
    }


def _engine(figures: dict[str, float | None]) -> dict[str, float | None]:
    """Client and server together; an engine within its client has one figure and no parts."""
    client, server = figures["client_cpu_seconds"], figures.get("server_cpu_seconds")
    if "server_cpu_seconds" not in figures:
        del figures["client_cpu_seconds"]
        return {"cpu_seconds": client}
    return {"cpu_seconds": None if client is None or server is None else client + server}


def _resident(known: Iterable[Mapping[str, float]]) -> list[float]:
    return [process["rss"] for process in known if process.get("rss")]  # one that has ended has 0


def _highest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _last(known: list[Mapping[str, float]], name: str) -> float | None:
    return next((process[name] for process in reversed(known) if name in process), None)


def _per_operation(figures: Mapping[str, float | None], samples: list[Sample], ops: float) -> dict[str, float | None]:
    switches = delta(samples[0], samples[-1], "switches") if len(samples) > 1 else None
    parts = {name: figures.get(f"{name}_seconds") for name in ("cpu", "client_cpu", "server_cpu")}
    return {
        **{f"{name}_us_per_op": None if used is None else used * 1e6 / ops for name, used in parts.items()},
        "context_switches_per_op": None if switches is None else switches / ops,
    }


def _gauges(sample: Sample) -> dict[str, float | None]:
    resident = {f"{part}_rss_bytes": at(sample, part, "rss") or None for part in (PROCESS, SERVER)}
    heat = {"cpu_celsius": at(sample, "sensors", "celsius")}
    own = {name: gauge(sample) for name, gauge in GAUGES.items()}
    return {**resident, **heat, **own, "database_bytes": sample.get("database_bytes")}
