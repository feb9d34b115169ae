"""What a step used of the host, its device and its processes, from its samples; by iostat's and vmstat's definitions.

Rates are over the whole window. Request sizes and waiting times are means of per-sample ratios, as the published
tables have them; a sample without requests has no ratio. The last interval is what is left of a second when the step
ends: as a ratio it would count as much as a whole one, so it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

SECTOR_KB = 0.5
SECTOR_MB = 512 / 1048576
SHORT = 0.5  # seconds: an interval below it is what is left at the end
Sample = Mapping[str, Any]
Figure = Callable[[Sample, Sample], "float | None"]


def usage(folder: Path, ops: float | None) -> dict[str, float]:
    """Averages over the step; a figure whose inputs are missing is absent."""
    samples = read(folder)
    step = _step(folder)
    figures = {**_over(samples, RATES), **_means(samples), **_processes(samples, step)}
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
    pairs = [pair for pair in pairwise(samples) if _seconds(*pair) > 0]
    return [pair for pair in pairs if _seconds(*pair) >= SHORT] or pairs


def _step(folder: Path) -> Mapping[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / "step.json").read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        return {}


def _over(samples: list[Sample], figures: Mapping[str, Figure]) -> dict[str, float | None]:
    if len(samples) < 2 or _seconds(samples[0], samples[-1]) <= 0:
        return {}
    return {name: figure(samples[0], samples[-1]) for name, figure in figures.items()}


def _means(samples: list[Sample]) -> dict[str, float | None]:
    pairs = _intervals(samples)
    return {name: _mean(figure(*pair) for pair in pairs) for name, figure in RATIOS.items()}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _processes(samples: list[Sample], step: Mapping[str, Any]) -> dict[str, float | None]:
    known = [sample["process"] for sample in samples if "process" in sample]
    resident = [process["rss"] for process in known if process.get("rss")]  # one that has ended has 0
    sizes = [sample["database_bytes"] for sample in samples if "database_bytes" in sample]
    user, system = step.get("user"), step.get("system")
    return {
        "cpu_seconds": None if user is None or system is None else user + system,
        "process_rss_bytes": max(resident) if len(resident) > 1 else None,  # the first is of a process that begins
        "process_max_rss_bytes": step.get("max_rss"),
        "process_read_bytes": _last(known, "read_bytes"),
        "process_write_bytes": _last(known, "write_bytes"),
        "database_bytes": sizes[-1] if sizes else None,
    }


def _last(known: list[Mapping[str, float]], name: str) -> float | None:
    return next((process[name] for process in reversed(known) if name in process), None)


def _per_operation(figures: Mapping[str, float | None], samples: list[Sample], ops: float) -> dict[str, float | None]:
    cpu = figures.get("cpu_seconds")
    switches = _delta(samples[0], samples[-1], "switches") if len(samples) > 1 else None
    return {
        "cpu_us_per_op": None if cpu is None else cpu * 1e6 / ops,
        "context_switches_per_op": None if switches is None else switches / ops,
    }


def _gauges(sample: Sample) -> dict[str, float | None]:
    rss, size = sample.get("process", {}).get("rss"), sample.get("database_bytes")
    return {"process_rss_bytes": rss or None, "database_bytes": size}


def _seconds(before: Sample, after: Sample) -> float:
    return float(after["monotonic"] - before["monotonic"])


def _delta(before: Sample, after: Sample, *keys: str) -> float | None:
    """How far a counter went; None where either sample lacks it, or it went back (a device that was replaced)."""
    low, high = _at(before, keys), _at(after, keys)
    return None if low is None or high is None or high < low else high - low


def _at(sample: Sample, keys: tuple[str, ...]) -> float | None:
    value: Any = sample
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def _device(before: Sample, after: Sample, counter: str) -> float | None:
    name = after.get("device")
    return None if name is None else _delta(before, after, "devices", name, counter)


def _cpu(*kinds: str) -> Figure:
    def share(before: Sample, after: Sample) -> float | None:
        passed = {kind: _delta(before, after, "cpu", kind) for kind in after.get("cpu", {})}
        total = sum(value or 0.0 for value in passed.values())
        parts = [value for kind in kinds if (value := passed.get(kind)) is not None]
        return 100.0 * sum(parts) / total if total > 0 and parts else None

    return share


def _rate(*keys: str, scale: float = 1.0) -> Figure:
    def rate(before: Sample, after: Sample) -> float | None:
        passed = _delta(before, after, *keys)
        return None if passed is None else passed * scale / _seconds(before, after)

    return rate


def _device_rate(counter: str, scale: float = 1.0) -> Figure:
    def rate(before: Sample, after: Sample) -> float | None:
        passed = _device(before, after, counter)
        return None if passed is None else passed * scale / _seconds(before, after)

    return rate


def _per_request(counter: str, requests: str, scale: float = 1.0) -> Figure:
    def ratio(before: Sample, after: Sample) -> float | None:
        amount, count = _device(before, after, counter), _device(before, after, requests)
        return amount * scale / count if amount is not None and count else None

    return ratio


RATES: Mapping[str, Figure] = {
    "host_cpu_user_pct": _cpu("user", "nice"),  # /proc/stat counts guests as user, as vmstat does
    "host_cpu_system_pct": _cpu("system", "irq", "softirq"),
    "host_cpu_idle_pct": _cpu("idle"),
    "host_cpu_iowait_pct": _cpu("iowait"),
    "host_cpu_steal_pct": _cpu("steal"),
    "context_switches_per_s": _rate("switches"),
    "device_reads_per_s": _device_rate("reads"),
    "device_read_mb_per_s": _device_rate("read_sectors", SECTOR_MB),
    "device_writes_per_s": _device_rate("writes"),
    "device_write_mb_per_s": _device_rate("write_sectors", SECTOR_MB),
    "device_queue": _device_rate("queue_ms", 0.001),
    "pressure_cpu_pct": _rate("pressure", "cpu", scale=1e-4),
    "pressure_io_pct": _rate("pressure", "io", scale=1e-4),
}
RATIOS: Mapping[str, Figure] = {
    "device_read_await_ms": _per_request("read_ms", "reads"),
    "device_read_request_kb": _per_request("read_sectors", "reads", SECTOR_KB),
    "device_write_await_ms": _per_request("write_ms", "writes"),
    "device_write_request_kb": _per_request("write_sectors", "writes", SECTOR_KB),
}
