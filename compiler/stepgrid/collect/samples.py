"""Samples of a step as figures: its use of the host, the device and its processes, as iostat and vmstat define them.

Rates are over the whole window, and so is what each operation took. Request sizes and waiting times are means of the
intervals' ratios, as published tables have them. An interval of less than half a second, as the last one often is,
would count as much as a whole one there: it is left out.

A step of which less than LEAST was measured has too few samples: it has only what the kernel counted in all of it (CPU,
the IO of a server, max_rss), and what can be seen at its ends (the server's memory, the database's size).
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from stepgrid.host import counters, sampling
from stepgrid.host.files import read_bytes
from stepgrid.model.records import StepRecord, unix_time

NAME = "samples.jsonl"
MISSING = math.nan
DEVICE = "device"  # as a section: the one of all devices that holds the database
SHORT = 0.5  # seconds: a shorter interval is what is left of a second when a step ends
LEAST = 2.0  # seconds, two periods of the sampler: of less, most would be guessed between the samples at both ends
SLIGHT = 0.02  # seconds, two ticks of the kernel's clock: a part of a step that lacks less is the whole step
LATEST = 5.0  # seconds from a step's start to its first sample, at most; else a clock was set
SECTOR_KB, SECTOR_MB, BYTE_MB = 0.5, 512 / 1048576, 1 / 1048576

Row: TypeAlias = tuple[float, ...]  # a sample, by COLUMNS; also the difference of two
Window: TypeAlias = tuple[float, float]  # seconds since the step's start
Figures: TypeAlias = dict[str, float]  # without what is missing

# A sample is read into a row: plain numbers first, then those of each section.

PLAIN = ("monotonic", "t", "interrupts", "switches", "running", "blocked", "database_bytes")
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "cpu": counters.CPU,
    "memory": ("free", "available", "buffers", "cached", "reclaimable", "dirty", "swap", "swap_free"),
    "paging": ("read", "written", "swapped_in", "swapped_out"),
    "pressure": counters.PRESSURE,
    "process": ("user", "system", "rss", "read_bytes", "write_bytes", "faults"),
    "server": ("user", "system", "rss", "read_bytes", "write_bytes", "faults"),
    "waits": sampling.WAITS,
    "server_waits": sampling.WAITS,
    "sensors": ("mhz", "celsius", "throttles"),
    "energy": ("joules",),
    DEVICE: tuple(name for name in counters.DEVICE if name not in ("in_flight", "discard_merges")),
}
_KEYS = [*((name,) for name in PLAIN), *((section, name) for section in SECTIONS for name in SECTIONS[section])]
COLUMNS: Mapping[tuple[str, ...], int] = {key: index for index, key in enumerate(_KEYS)}
_TIME = COLUMNS["monotonic",]


def read_samples(folder: Path) -> list[Row]:
    """Read the samples of a step; a last line that a kill has cut is left out. ValueError: one holds no numbers."""
    path = f"{folder}/{NAME}"
    try:
        lines = read_bytes(path).split(b"\n")[:-1]
    except OSError:
        return []
    try:
        return rows([json.loads(line) for line in lines if line])
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from None


def rows(samples: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Counters of two devices that followed each other make no difference: samples of another one lack it."""
    device = samples[-1].get(DEVICE) if samples else None
    return [_row(number, sample, device) for number, sample in enumerate(samples, 1)]


def _row(number: int, sample: Mapping[str, Any], device: str | None) -> Row:
    values = [sample.get(name, MISSING) for name in PLAIN]
    for section, names in SECTIONS.items():
        part = sample.get(section) or {}
        if section == DEVICE:
            is_same = device is not None and sample.get(DEVICE) in (device, None)
            part = (sample.get("devices") or {}).get(device) or {} if is_same else {}
        values += [part.get(name, MISSING) for name in names]
    for key, value in zip(COLUMNS, values, strict=True):
        if not isinstance(value, int | float):
            raise ValueError(f"sample {number}: `{'.'.join(key)}` is {json.dumps(value)}, and not a number")
    return tuple(values)


# Differences of two samples.


class Counter(NamedTuple):
    """A counter's growth by second, or by operation."""

    keys: tuple[str, ...]
    scale: float = 1.0


class Ratio(NamedTuple):
    """A device counter's growth by request."""

    counter: str
    requests: str
    scale: float = 1.0


SHARES: Mapping[str, tuple[str, ...]] = {
    "host_cpu_user_pct": ("user", "nice"),  # /proc/stat counts guests as user, as vmstat does
    "host_cpu_system_pct": ("system", "irq", "softirq"),
    "host_cpu_idle_pct": ("idle",),
    "host_cpu_iowait_pct": ("iowait",),
    "host_cpu_steal_pct": ("steal",),
}
BUSY = {"process_cores": "process", "server_cores": "server"}  # groups of processes: cores that they kept busy
COUNTED: Mapping[str, Counter] = {
    "context_switches_per_s": Counter(("switches",)),
    "interrupts_per_s": Counter(("interrupts",)),
    "host_read_mb_per_s": Counter(("paging", "read"), BYTE_MB),
    "host_write_mb_per_s": Counter(("paging", "written"), BYTE_MB),
    "power_watts": Counter(("energy", "joules")),
    "swap_in_mb_per_s": Counter(("paging", "swapped_in"), BYTE_MB),
    "swap_out_mb_per_s": Counter(("paging", "swapped_out"), BYTE_MB),
    "device_reads_per_s": Counter((DEVICE, "reads")),
    "device_read_mb_per_s": Counter((DEVICE, "read_sectors"), SECTOR_MB),
    "device_read_merges_per_s": Counter((DEVICE, "read_merges")),
    "device_writes_per_s": Counter((DEVICE, "writes")),
    "device_write_mb_per_s": Counter((DEVICE, "write_sectors"), SECTOR_MB),
    "device_write_merges_per_s": Counter((DEVICE, "write_merges")),
    "device_discards_per_s": Counter((DEVICE, "discards")),
    "device_discard_mb_per_s": Counter((DEVICE, "discard_sectors"), SECTOR_MB),
    "device_flushes_per_s": Counter((DEVICE, "flushes")),
    "device_queue": Counter((DEVICE, "queue_ms"), 0.001),
    "device_busy_pct": Counter((DEVICE, "busy_ms"), 0.1),
    "pressure_cpu_pct": Counter(("pressure", "cpu"), 1e-4),
    "pressure_io_pct": Counter(("pressure", "io"), 1e-4),
    "pressure_memory_pct": Counter(("pressure", "memory"), 1e-4),
}
RATES = (*SHARES, *BUSY, *COUNTED)  # over a step: from its first sample to its last
RATIOS: Mapping[str, Ratio] = {  # over a step: means of those of the intervals
    "device_read_await_ms": Ratio("read_ms", "reads"),
    "device_read_request_kb": Ratio("read_sectors", "reads", SECTOR_KB),
    "device_write_await_ms": Ratio("write_ms", "writes"),
    "device_write_request_kb": Ratio("write_sectors", "writes", SECTOR_KB),
    "device_discard_await_ms": Ratio("discard_ms", "discards"),
    "device_flush_await_ms": Ratio("flush_ms", "flushes"),
}
PER_OPERATION: Mapping[str, Counter] = {  # over a step, by operation of its benchmark
    "context_switches_per_op": Counter(("switches",)),
    "energy_uj_per_op": Counter(("energy", "joules"), 1e6),
    "reads_per_op": Counter((DEVICE, "reads")),
    "read_kb_per_op": Counter((DEVICE, "read_sectors"), SECTOR_KB),
    "writes_per_op": Counter((DEVICE, "writes")),
    "write_kb_per_op": Counter((DEVICE, "write_sectors"), SECTOR_KB),
}
HOST_CPU = "host_cpu_us_per_op"
WAITS: Mapping[str, str] = {  # by operation: time of threads that worked, scaled by the CPU that they took
    "run_delay_us_per_op": sampling.RUNNABLE,
    "disk_wait_us_per_op": sampling.DISK,
    "lock_wait_us_per_op": sampling.LOCK,
    "timer_wait_us_per_op": sampling.TIMER,
    "peer_wait_us_per_op": sampling.PEER,
    "other_wait_us_per_op": sampling.OTHER,
}
_CPU = slice(COLUMNS["cpu", "user"], COLUMNS["cpu", "steal"] + 1)
_SHARES = {name: [COLUMNS["cpu", kind] for kind in kinds] for name, kinds in SHARES.items()}
_AT_WORK = [*_SHARES["host_cpu_user_pct"], *_SHARES["host_cpu_system_pct"]]
_BUSY = {name: (COLUMNS[group, "user"], COLUMNS[group, "system"]) for name, group in BUSY.items()}
_COUNTED = [(COLUMNS[counter.keys], counter.scale) for counter in COUNTED.values()]
_RATIOS = [(COLUMNS[DEVICE, ratio.counter], COLUMNS[DEVICE, ratio.requests], ratio.scale) for ratio in RATIOS.values()]
_PER_OPERATION = [(COLUMNS[counter.keys], counter.scale) for counter in PER_OPERATION.values()]


def growth(before: Row, after: Row) -> Row:
    """Subtract; a counter that either sample lacks, or that went back (a device that was replaced), is missing."""
    return tuple([new - old if new >= old else MISSING for old, new in zip(before, after, strict=True)])


def rates(grown: Row) -> list[float]:
    """A value for each of RATES."""
    seconds = grown[_TIME]
    total = math.fsum(value for value in grown[_CPU] if value == value)
    shares = [100.0 * _known_sum(grown, kinds) / total if total > 0 else MISSING for kinds in _SHARES.values()]
    busy = [(grown[user] + grown[system]) / seconds for user, system in _BUSY.values()]
    return [*shares, *busy, *(grown[column] * scale / seconds for column, scale in _COUNTED)]


def ratios(grown: Row) -> list[float]:
    """A value for each of RATIOS; one without requests is missing."""
    return [grown[of] * scale / grown[by] if grown[by] > 0 else MISSING for of, by, scale in _RATIOS]


def work(grown: Row) -> Figures:
    """Sums over all operations, by the names of PER_OPERATION and HOST_CPU."""
    sums = [grown[column] * scale for column, scale in _PER_OPERATION]
    return named((*PER_OPERATION, HOST_CPU), [*sums, 1e6 * _known_sum(grown, _AT_WORK)])


def _known_sum(grown: Row, columns: Iterable[int]) -> float:
    """NaN is unlike itself."""
    values = [grown[column] for column in columns if grown[column] == grown[column]]
    return math.fsum(values) if values else MISSING


# Gauges: how much there is at the moment of a sample.


class Gauge(NamedTuple):
    keys: tuple[str, ...]
    less: float = 0.0


GAUGES: Mapping[str, Gauge] = {
    "run_queue": Gauge(("running",), less=1.0),  # the sampler itself runs as well
    "blocked_tasks": Gauge(("blocked",)),
    "memory_free_bytes": Gauge(("memory", "free")),
    "memory_available_bytes": Gauge(("memory", "available")),
    "memory_buffer_bytes": Gauge(("memory", "buffers")),
    "memory_dirty_bytes": Gauge(("memory", "dirty")),
    "cpu_mhz": Gauge(("sensors", "mhz")),
}
SUMS: Mapping[str, tuple[tuple[str, str], int, tuple[str, str]]] = {
    "memory_cache_bytes": (("memory", "cached"), 1, ("memory", "reclaimable")),
    "swap_used_bytes": (("memory", "swap"), -1, ("memory", "swap_free")),
}
AVERAGED = (*GAUGES, *SUMS)  # over a step: means
AT_THE_END: Mapping[str, Gauge] = {  # of an interval; over a step they are no means
    "cpu_celsius": Gauge(("sensors", "celsius")),
    "database_bytes": Gauge(("database_bytes",)),
}
RESIDENT = {"process_rss_bytes": "process", "server_rss_bytes": "server"}  # likewise
PER_SECOND = (*RATES, *RATIOS, *AVERAGED, *AT_THE_END, *RESIDENT)
SERIES = ("second", *PER_SECOND)  # since the step's start, at the end of an interval
_GAUGES = [(COLUMNS[gauge.keys], gauge.less) for gauge in GAUGES.values()]
_SUMS = [(COLUMNS[first], sign, COLUMNS[second]) for first, sign, second in SUMS.values()]
_AT_THE_END = [COLUMNS[gauge.keys] for gauge in AT_THE_END.values()]
_RESIDENT = [COLUMNS[group, "rss"] for group in RESIDENT.values()]


def averaged(sample: Row) -> list[float]:
    """A value for each of AVERAGED."""
    values = [(sample[column], less) for column, less in _GAUGES]
    gauges = [max(value - less, 0.0) if value == value else MISSING for value, less in values]
    return [*gauges, *(sample[first] + sign * sample[second] for first, sign, second in _SUMS)]


def at_the_end(sample: Row) -> list[float]:
    """A value for each of AT_THE_END and RESIDENT. A group of processes that has ended holds nothing."""
    resident = [sample[column] if sample[column] > 0 else MISSING for column in _RESIDENT]
    return [*(sample[column] for column in _AT_THE_END), *resident]


def intervals(samples: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Pair neighbours that are a whole interval apart; of a step that is shorter than one, those that there are."""
    pairs = [(before, after) for before, after in pairwise(samples) if after[_TIME] > before[_TIME]]
    return [pair for pair in pairs if pair[1][_TIME] - pair[0][_TIME] >= SHORT] or pairs


def series(samples: Sequence[Row]) -> dict[str, list[float | None]]:
    """A column for each of SERIES that has a value, with an entry for each interval; None is missing."""
    lines = []
    for before, after in intervals(samples):
        grown = growth(before, after)
        second = after[_TIME] - samples[0][_TIME]
        lines.append([second, *rates(grown), *ratios(grown), *averaged(after), *at_the_end(after)])
    columns = dict(zip(SERIES, zip(*lines, strict=True), strict=True)) if lines else {}
    finite = {name: [value if math.isfinite(value) else None for value in values] for name, values in columns.items()}
    return {name: values for name, values in finite.items() if any(value is not None for value in values)}


def named(names: Iterable[str], values: Iterable[float]) -> Figures:
    return {name: value for name, value in zip(names, values, strict=True) if value == value}


# The figures of a step.


class Usage:
    """Use of resources by a step, in those of its samples that are of its measurement."""

    def __init__(self, record: StepRecord, samples: Sequence[Row], window: Window | None) -> None:
        """`record`: step.json."""
        self._record, self._samples = record, samples
        self._part = measured_part(samples, window, record)

    def after(self) -> Figures:
        """Figures of what came after the measurement."""
        process = self._group("process")
        if not self._part.is_partial or not process["user"]:
            return {}
        end = self._group("process", self._samples)
        written = _over([process["write_bytes"][-1], end["write_bytes"][-1]])
        drained = {} if written is None else {"drain_write_bytes": written}
        total, before = self._record.cpu_seconds, process["user"][-1] + process["system"][-1]
        if total is not None and before == before:
            drained["drain_cpu_seconds"] = max(0.0, total - before)
        return drained

    def figures(self, operations: float | None) -> Figures:
        """Averages over the step; a figure whose inputs are missing is absent."""
        size = _last(sample[COLUMNS["database_bytes",]] for sample in self._samples)
        # the step's own processes began with it: the kernel has what they used when they end
        cpu = self._cpu(self._group("process")) if self._part.is_partial else self._record.cpu_seconds
        processes = {"client_cpu_seconds": cpu, "process_max_rss_bytes": self._record.max_rss, **self._server()}
        processes |= _client_and_server(processes)
        figures = {**self._sampled(), **processes, "database_bytes": size}
        return {
            **{name: value for name, value in figures.items() if value is not None},
            **(self._per_operation(processes, operations) if operations else {}),
        }

    def _sampled(self) -> Mapping[str, float | None]:
        """Figures that need samples within the step, not at its ends alone."""
        if self._part.is_sparse:
            return {}
        process, grown = self._group("process", self._samples), self._growth()
        so_far, part = (_over, self._group("process")) if self._part.is_partial else (_last, process)
        sensors = self._group("sensors")
        return {
            **(named(RATES, rates(grown)) if grown else {}),
            **_mean_columns(RATIOS, [ratios(growth(*pair)) for pair in intervals(self._part.samples)]),
            **_mean_columns(AVERAGED, [averaged(sample) for sample in self._part.samples]),
            "cpu_celsius_max": max((value for value in sensors["celsius"] if value == value), default=None),
            "cpu_throttles": _over(sensors["throttles"]),
            # the first sample is of a process that begins, the last one of a process that has ended
            "process_rss_bytes": max((value for value in process["rss"][1:-1] if value > 0), default=None),
            "process_read_bytes": so_far(part["read_bytes"]),
            "process_write_bytes": so_far(part["write_bytes"]),
        }

    def _growth(self) -> Row | None:
        samples = self._part.samples
        if len(samples) < 2 or not samples[-1][_TIME] > samples[0][_TIME]:
            return None
        return growth(samples[0], samples[-1])

    def _per_operation(self, processes: Mapping[str, float | None], operations: float) -> Figures:
        seconds = {name: processes.get(f"{name}_seconds") for name in ("cpu", "client_cpu", "server_cpu")}
        grown = None if self._part.is_sparse else self._growth()
        sums = work(grown) if grown else {}
        return {
            **{f"{name}_us_per_op": value * 1e6 / operations for name, value in seconds.items() if value is not None},
            **{name: value * self._part.weight / operations for name, value in sums.items()},
            **({} if self._part.is_sparse else {**self._waits(seconds, operations), **self._faults(operations)}),
        }

    def _waits(self, seconds: Mapping[str, float | None], operations: float) -> Figures:
        """Sum up what the threads of client and server waited for; nothing where the kernel does not count run delay.

        A client and its server wait for each other: that is no work of either."""
        groups = {"waits": seconds["client_cpu"], "server_waits": seconds["server_cpu"]}
        if seconds["client_cpu"] is None:
            groups = {"waits": seconds["cpu"]}
        figures: dict[str, float] = {}
        for section, cpu in groups.items():
            grown = {name: _over(values) for name, values in self._group(section).items()}
            running = grown.get(sampling.RUNNING)
            if not running or not cpu:
                return {}
            for metric, name in WAITS.items():
                figures[metric] = figures.get(metric, 0.0) + (grown[name] or 0.0) / running * cpu * 1e6 / operations
        if len(groups) > 1:
            del figures["peer_wait_us_per_op"]
        return figures

    def _faults(self, operations: float) -> Figures:
        groups = [self._group(section)["faults"] for section in ("process", "server")]
        grown = [value for faults in groups if len(faults) > 1 and (value := _over(faults)) is not None]
        return {"page_faults_per_op": math.fsum(grown) * self._part.weight / operations} if grown else {}

    def _group(self, section: str, samples: Sequence[Row] | None = None) -> Mapping[str, list[float]]:
        """Columns of a section, of samples that have some of it; without `samples` of those measured."""
        first = COLUMNS[section, SECTIONS[section][0]]
        parts = [sample[first : first + len(SECTIONS[section])] for sample in samples or self._part.samples]
        lines = [part for part in parts if any(value == value for value in part)]
        return {name: [line[at] for line in lines] for at, name in enumerate(SECTIONS[section])}

    def _server(self) -> dict[str, float | None]:
        """A server ran before the step, and goes on after it."""
        server = self._group("server")
        if len(server["user"]) < 2:
            return {}
        return {
            "server_cpu_seconds": self._cpu(server),
            "server_rss_bytes": max((value for value in server["rss"] if value > 0), default=None),
            "server_read_bytes": _over(server["read_bytes"]),
            "server_write_bytes": _over(server["write_bytes"]),
        }

    def _cpu(self, group: Mapping[str, Sequence[float]]) -> float | None:
        user, system = _over(group["user"]), _over(group["system"])
        return None if user is None or system is None else (user + system) * self._part.weight


def _client_and_server(figures: dict[str, float | None]) -> dict[str, float | None]:
    """Add both up; an engine within its client has one figure and no parts."""
    client, server = figures["client_cpu_seconds"], figures.get("server_cpu_seconds")
    if "server_cpu_seconds" not in figures:
        del figures["client_cpu_seconds"]
        return {"cpu_seconds": client}
    return {"cpu_seconds": None if client is None or server is None else client + server}


def _mean_columns(names: Iterable[str], lines: Sequence[Sequence[float]]) -> Figures:
    """Means of what is known, by column."""
    means = {}
    for name, column in zip(names, zip(*lines, strict=True), strict=False):
        values = [value for value in column if value == value]
        if values:
            means[name] = math.fsum(values) / len(values)
    return means


def _over(values: Sequence[float]) -> float | None:
    """Subtract the first from the largest: a sum goes back that lost a process which was ending."""
    largest = max((value for value in values[1:] if value == value), default=math.nan)
    return largest - values[0] if values and largest >= values[0] else None


def _last(values: Iterable[float]) -> float | None:
    return next((value for value in reversed([*values]) if value == value), None)


# The part of a step's samples that was measured, cut at its ends: between two samples counters grow evenly. It lacks
# the time before the measurement, what the step drained afterwards, and samples of a step that had ended already.


class MeasuredPart(NamedTuple):
    samples: Sequence[Row]
    is_partial: bool  # less than the whole step
    weight: float = 1.0  # its seconds, by those that the samples have
    is_sparse: bool = False  # shorter than LEAST: then all samples are kept


def measured_part(samples: Sequence[Row], window: Window | None, record: StepRecord) -> MeasuredPart:
    """All samples where nothing says how long the step took, or where the window has no time."""
    if len(samples) < 2:
        return MeasuredPart(samples, False, is_sparse=True)
    seconds = record.seconds
    ends = window if window is not None else None if seconds is None else (0.0, seconds)
    moments, delay = [sample[_TIME] for sample in samples], _delay(samples[0], record)
    length = moments[-1] - moments[0] if ends is None else ends[1] - ends[0]
    if ends is None or length < LEAST - SLIGHT:
        return MeasuredPart(samples, False, is_sparse=length < LEAST - SLIGHT)
    begin, end = (min(max(moments[0] + edge - delay, moments[0]), moments[-1]) for edge in ends)
    if not end > begin:
        return MeasuredPart(samples, False)
    is_partial = window is not None and moments[-1] - moments[0] - (end - begin) > SLIGHT
    return MeasuredPart(_between(samples, moments, begin, end), is_partial, (ends[1] - ends[0]) / (end - begin))


def _delay(first: Row, record: StepRecord) -> float:
    """Seconds from the step's start, when its program has waited for collectors, to its first sample."""
    start = unix_time(record.started)
    delay = 0.0 if start is None else first[COLUMNS["t",]] - start - record.waited
    return delay if 0 < delay < LATEST else 0.0


def _between(samples: Sequence[Row], moments: list[float], begin: float, end: float) -> list[Row]:
    first, last = bisect_right(moments, begin) - 1, bisect_left(moments, end)
    part = [*samples[first : last + 1]]
    if begin > moments[first]:
        part[0] = _edge(samples, moments, first, begin)
    if end < moments[last]:
        part[-1] = _edge(samples, moments, last - 1, end)
    return part


def _edge(samples: Sequence[Row], moments: list[float], before: int, moment: float) -> Row:
    """Interpolate, a sensor that is read seldom between its own readings."""
    share = (moment - moments[before]) / (moments[before + 1] - moments[before])
    edge = [old + share * (new - old) for old, new in zip(samples[before], samples[before + 1], strict=True)]
    for column in [at for at, value in enumerate(edge) if value != value]:
        read = [at for at, sample in enumerate(samples) if sample[column] == sample[column]]
        after = bisect_left(read, before + 1)
        if 0 < after < len(read):
            low, high = read[after - 1], read[after]
            part = (moment - moments[low]) / (moments[high] - moments[low])
            edge[column] = samples[low][column] + part * (samples[high][column] - samples[low][column])
    return tuple(edge)
