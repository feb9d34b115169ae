"""Counts beside a step: what its server, its collectors and its probes counted, and what it began with."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct

from stepgrid.host.files import read_json
from stepgrid.host.sampling import RUNNING
from stepgrid.model.figures import LIVE_ROWS, START_FIGURES, TABLE_ROWS, TREE_LEVELS
from stepgrid.model.metrics import QPS, SERVER_CPU, Metric
from stepgrid.model.plan import PlannedStage
from stepgrid.model.records import StepRecord, unix_time
from stepgrid.model.result_schema import LEVEL_STATES
from stepgrid.plugins.collector import (
    CLIENT,
    EVENT,
    FUNCTIONS,
    RECORDED,
    WAIT,
    AskingCollector,
    Collector,
    CountingCollector,
    DebtCollector,
)
from stepgrid.plugins.counters import CACHE_MISSES, LOG_BYTES, REQUEST_MISSES, ROWS_READ, counted, rows_found
from stepgrid.plugins.registry import COLLECTORS
from stepgrid.plugins.statements import PLANS_FILE
from stepgrid.plugins.work import FOUND_ROWS

Row = Mapping[str, Any]
Count = tuple[str, str, float]  # who counted, name, growth
Event = tuple[float, float, str, str, str]  # second, seconds, kind, name, source

# A server's statistics, before and after the step; of an embedded engine, its files have those of before.

STATISTICS = "statistics"  # folder of a step
PER_OPERATION: Mapping[str, tuple[str, ...]] = {  # metric -> roles of counters
    "rows_read_per_op": (ROWS_READ,),
    "cache_misses_per_op": (CACHE_MISSES, REQUEST_MISSES),
    "log_bytes_per_op": (LOG_BYTES,),
}
INGESTED, COMPACTED, AMPLIFICATION = "ingest_bytes", "compaction_write_bytes", "write_amplification"
_AT_THE_END = ("sizes", "garbage")  # by metric, as they are after the step
_STATES = ("sizes", "garbage", "state")
_LEVEL = re.compile(r"L\d+")  # and no sum of them


class ServerFigures(Struct, frozen=True):
    metrics: Mapping[str, float] = {}
    counters: Mapping[str, float] = {}  # growth
    sizes: Sequence[Row] = ()  # rows of the table `sizes`
    levels: Sequence[Row] = ()  # rows of the table `levels`
    start: Mapping[str, Any] = {}  # what the step began with, by the names of model.step_start


def server_figures(step: Path, operations: float | None) -> ServerFigures:
    before, after = (read_json(step / STATISTICS / f"{when}.json") for when in ("before", "after"))
    counters, work = _growth(before, after, "counters"), _growth(before, after, "work")
    metrics = {name: value for kind in _AT_THE_END for name, value in _numbers(after, kind).items()} | work
    ingested = work.get(INGESTED)
    if ingested and COMPACTED in work:
        metrics[AMPLIFICATION] = work[COMPACTED] / ingested
    if operations and counters:
        values = {metric: counted(counters, *roles) for metric, roles in PER_OPERATION.items()}
        metrics |= {metric: value / operations for metric, value in values.items() if value is not None}
        if (rows := rows_found(counters, operations)) is not None:
            metrics[FOUND_ROWS] = rows
    return ServerFigures(metrics, counters, after.get("objects", ()), tuple(_levels(before, after)), _start(before))


SESSIONS_FILE, LOOKS, SESSIONS = "sessions.json", "looks", "sessions"  # what clients' sessions waited for
SESSION_WAITS = "session waits"  # the source of microseconds of sessions by what they waited for


def session_counts(step: Path, record: StepRecord, metrics: Mapping[str, float]) -> Iterator[Count]:
    """Convert shares of the looks to microseconds of the time that the operations took."""
    looks = read_json(step / STATISTICS / SESSIONS_FILE)
    operations, rate = metrics.get("operations"), metrics.get(QPS)
    seconds = operations / rate if operations and rate else record.seconds or 0.0
    for event, sessions in (looks.get(SESSIONS) or {}).items():
        yield SESSION_WAITS, str(event) or RUNNING, float(sessions) / float(looks[LOOKS]) * seconds * 1e6


def step_plans(step: Path) -> dict[str, str]:
    """Read the query plan of each statement, and what it became while the step ran."""
    record = read_json(step / STATISTICS / PLANS_FILE)
    readings: list[Mapping[str, Row]] = [record.get(when) or {} for when in ("before", "after")]
    plans = {name: [reading.get(name, {}).get("plan") for reading in readings] for name in chain(*readings)}
    return {name: ", later ".join(dict.fromkeys(filter(None, texts))) for name, texts in plans.items() if any(texts)}


def _numbers(statistics: Row, kind: str) -> dict[str, float]:
    return {str(name): float(value) for name, value in statistics.get(kind, {}).items()}


def _growth(before: Row, after: Row, kind: str) -> dict[str, float]:
    """Subtract: values that went down were no counters, or were set back; those below 0 are not counted here."""
    old, new = _numbers(before, kind), _numbers(after, kind)
    grown = {name: new[name] - value for name, value in old.items() if name in new and value >= 0}
    return {name: value for name, value in grown.items() if value >= 0}


def _start(before: Row) -> dict[str, Any]:
    start: dict[str, Any] = {
        name: value for kind in _STATES for name, value in _numbers(before, kind).items() if name in START_FIGURES
    }
    rows = [row["rows"] for row in before.get("objects", ()) if "index_name" not in row and "rows" in row]
    if rows:
        start[LIVE_ROWS] = float(sum(rows))
        start[TABLE_ROWS] = _rows_by_table(before)
    tree: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in before.get("levels", ()):
        if _LEVEL.fullmatch(str(row["level"])) and {"files", "bytes"} <= row.keys():
            files, size = tree[row["level"]]
            tree[row["level"]] = [files + row["files"], size + row["bytes"]]
    if tree:
        start[TREE_LEVELS] = tree
    return start


def _rows_by_table(before: Row) -> dict[str, float]:
    """Add up the rows of tables of one name, whatever their schema: that is another's database on another server."""
    rows: dict[str, float] = defaultdict(float)
    for row in before["objects"]:
        if "index_name" not in row and "rows" in row:
            rows[str(row["table_name"])] += float(row["rows"])
    return rows


def _levels(before: Row, after: Row) -> Iterator[Row]:
    """Levels as they are after the step, with what the step did to them. A new level had nothing."""
    old = {(row["family"], row["level"]): row for row in before.get("levels", ())}
    for row in after.get("levels", ()) if "levels" in before else ():
        previous = old.get((row["family"], row["level"]), {})
        numbers = {name: value for name, value in row.items() if isinstance(value, int | float)}
        work = {name: value - previous.get(name, 0.0) for name, value in numbers.items() if name not in LEVEL_STATES}
        if all(value >= 0 for value in work.values()):
            count = work.get("compactions")
            average = {"average_seconds": work["seconds"] / count} if count and "seconds" in work else {}
            yield {**row, **work, **average}


# Events of its engine, by the engine's log, and by a collector

EVENT_FILE = "events.json"  # in the folder of statistics
LOG, SAMPLED = "log", "sampled"  # sources of an event


def step_events(step: Path, record: StepRecord) -> Iterator[Event]:
    """Yield second since the step's start, seconds, kind, name and source; `record`: step.json."""
    events = [(*event, LOG) for event in read_json(step / STATISTICS / EVENT_FILE).get("events", ())]
    for folder, _, collector in _collectors(step):
        if isinstance(collector, AskingCollector):
            events += [(*event, SAMPLED) for event in collector.events(folder)]
    if events:
        start = unix_time(record.started) or 0.0
        for began, seconds, kind, name, source in events:
            second, end = max(0.0, began - start), min(began + seconds - start, record.seconds or 0.0)
            yield second, max(0.0, end - second), kind, name, source


def step_debts(step: Path, record: StepRecord) -> dict[str, list[tuple[float, float]]]:
    """Map what its engine put off, as collectors saw it, to looks by second since the step's start."""
    start = unix_time(record.started) or 0.0
    series = [kind.debts(folder) for folder, _, kind in _collectors(step) if isinstance(kind, DebtCollector)]
    return {name: [(at - start, value) for at, value in looks] for debts in series for name, looks in debts.items()}


# Collectors: tools that look on while the step runs.

COLLECTED = "collectors"  # folder of a step
UNSAMPLED = "[no sample]"  # the row of such CPU
EVENTS = "events"  # the source of events per operation, as a profile pass counted them
OFF_CPU = "off_cpu"  # the source of microseconds of threads per operation, by what they waited for
PROFILE = "profile"  # the source of microseconds of CPU per operation, by function
COST = "they cost some of its speed"


def collector_figures(step: Path) -> dict[str, float]:
    figures: dict[str, float] = {}
    for folder, _, collector in _collectors(step):
        figures |= collector.parse(folder)
    return figures


def _collectors(step: Path) -> Iterator[tuple[Path, Row, Collector]]:
    for folder, record in _collector_records(step):
        if (kind := record.get("collector")) in COLLECTORS.names():
            yield folder, record, COLLECTORS.get(str(kind))


def collector_counts(step: Path) -> Iterator[Count]:
    """Collectors that count by names of their own."""
    for folder, record, collector in _collectors(step):
        if isinstance(collector, CountingCollector):
            counts = collector.counted(folder, record)
            yield from ((str(record["collector"]), name, count) for name, count in counts.items())


def profile_counts(counts: Iterable[Count], metrics: Mapping[str, float]) -> Iterator[Count]:
    """Convert the windows of a profile to microseconds of CPU per operation, by the CPU of the whole step."""
    times = {name: count for source, name, count in counts if source == FUNCTIONS}
    recorded, cpu = times.pop(RECORDED, 0.0), profiled_cpu(times, metrics)
    if recorded and cpu is not None:
        for source, prefix, factor in ((EVENTS, EVENT, cpu), (OFF_CPU, WAIT, profiled_cpu((), metrics) or 0.0)):
            rates = {name: times.pop(name) for name in [*times] if name.startswith(prefix)}
            yield from ((source, name.removeprefix(prefix), rate * factor) for name, rate in rates.items())
        times[UNSAMPLED] = recorded - math.fsum(times.values())
        yield from ((PROFILE, name, time / recorded * cpu) for name, time in times.items())


def profiled_cpu(names: Container[str], metrics: Mapping[str, float]) -> float | None:
    """Return microseconds per operation of the processes that were sampled: beside a server its client may be."""
    cpu = metrics.get("cpu_us_per_op")
    return cpu if CLIENT in names else metrics.get(SERVER_CPU, cpu)


def collector_warnings(step: Path) -> Iterator[str]:
    """Say that collectors cost speed, and which of them failed."""
    records = [record for _, record in _collector_records(step)]
    names = [str(record["name"]) for record in records if record.get("exit") is not None]
    if names:
        several = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        yield f"measured with {several} beside it: {COST}"
    for record in records:
        if record.get("warning"):
            yield f"collector {record['name']}: {record['warning']}"


def _collector_records(step: Path) -> Iterator[tuple[Path, Row]]:
    for path in sorted(step.glob(f"{COLLECTED}/*/collector.json")):
        record = read_json(path)
        if "name" in record:
            yield path.parent, record


# Probes: their seconds are metrics of their names.

PROBE = "the probe"  # the window of such a metric


def probe_counts(record: StepRecord) -> Iterator[Count]:
    for probe, counters in record.counters.items():
        yield from ((probe, name, grown) for name, grown in counters.items())


def probe_metrics(stages: Iterable[PlannedStage]) -> dict[str, Metric]:
    """The metrics of a plan's probes: a spec gives them their names."""
    setups = (step.setup for stage in stages for step in stage.steps)
    names = sorted({probe.name for setup in setups for probe in (*setup.before, *setup.after)})
    return {name: Metric(name, "s", "lower", f"Time of the probe {name}.", PROBE) for name in names}
