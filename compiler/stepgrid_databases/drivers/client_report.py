"""Reports that clients write of a step, lines of JSON: the reader and the writer of docs/guides/own-figures.md.

`report` says what a line is: a `metric`, a `fact`, an `interval`, a `histogram`, the `end`, or a kind that one client
alone has. Clients of stepgrid also write intervals and histograms in forms of their own, which are read as the same.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

from msgspec import Struct

from stepgrid.host.failure import tail
from stepgrid.model.figures import ASKED, Buckets, ClientRate, Figures, ParseError, is_sustained
from stepgrid.model.metrics import STEP, Metric, has_percentile
from stepgrid.model.records import replace
from stepgrid.plugins import driver
from stepgrid_databases.drivers import open_loop

FILE = "report.jsonl"
PER_DOUBLING = 32  # buckets of a histogram, by the logarithm of a time, from 1 µs on
MICROSECONDS = 1e6  # of a second
PERCENTILES: Mapping[str, float] = {
    "p50_us": 50, "p75_us": 75, "p95_us": 95, "p99_us": 99, "p99_9_us": 99.9, "p99_99_us": 99.99,
}  # fmt: skip
INSERT = "insert"  # the operation that other operations are beside, in the insert benchmark
LATENCIES = ("avg_us", "p50_us", "p95_us", "p99_us", "max_us")  # of each operation of a client of several
STANDARD = ("operations", "seconds", "qps", "avg_us", "max_us", *PERCENTILES)  # metrics that all kinds share
SHORTEST = 0.5  # seconds: the last interval of a step is a part of a second
LEAST_LENGTH, MOST_LENGTH = 0.001, 1e6  # seconds of a schedule, whose rates are written out by second
TAIL = 65_536  # bytes of the end of a report that is still written: a minute of a few clients

Line: TypeAlias = Mapping[str, Any]
Series: TypeAlias = Sequence[tuple[float, float]]

_LINE = re.compile(r'^[ \t]*\{.*"report".*$', re.MULTILINE)
_INTERVALS = ("interval", "client", "rate")  # kinds of lines that are intervals
_HISTOGRAMS = ("histogram", "role", "latency")
_COUNTS: Mapping[str, tuple[str, str]] = {  # of an interval: count -> operation, name of its longest time
    "operations": ("", "longest"),
    "inserts": ("insert", "max_insert"),
    "deletes": ("delete", "max_delete"),
    "queries": ("query", "max_query"),
}


class RateInterval(NamedTuple):
    """Operations of the `length` seconds before `second`, counted from the step's start."""

    second: float
    length: float
    operations: float
    operation: str = ""
    client: int | None = None
    longest: float | None = None  # seconds, of one operation


class ClientReport(Struct, frozen=True):
    path: Path
    lines: Mapping[str, Sequence[Line]]  # by kind

    def of(self, kind: str) -> Sequence[Line]:
        return self.lines.get(kind, ())

    def last(self, kind: str) -> Line:
        if kind not in self.lines:
            raise ParseError(f"{self.path.name} has no line of `{kind}`")
        return self.lines[kind][-1]

    @property
    def seconds(self) -> float:
        """The time from the start of the client's threads to the end of the last one."""
        return float(self.of("end")[0]["seconds"])

    @property
    def intervals(self) -> list[RateInterval]:
        return [interval for kind in _INTERVALS for line in self.of(kind) for interval in _intervals(line)]

    @property
    def histograms(self) -> list[Line]:
        return [line for kind in _HISTOGRAMS for line in self.of(kind)]


def read_whole(path: Path) -> ClientReport:
    """Read a report that must have its end."""
    report = read(path)
    if not report.of("end"):
        raise ParseError(f"{path}: the client did not report its end")
    return report


def read(path: Path) -> ClientReport:
    """Read a report; lines that are damaged or cut off are skipped."""
    return parse(path, read_text(path))


def read_text(path: Path) -> str:
    try:
        return driver.read_output(path).decode("utf-8", "replace")
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None


def parse(path: Path, text: str) -> ClientReport:
    lines: dict[str, list[Line]] = {}
    for match in _LINE.finditer(text):
        try:
            record = json.loads(match[0])
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and isinstance(kind := record.get("report"), str):
            lines.setdefault(kind, []).append(record)
    return ClientReport(path, lines)


def live(folder: Path, *operations: str, file: str = FILE) -> Series:
    """Read the rates of a step that runs from the end of its report: of the first of these operations that has any."""
    try:
        intervals = parse(folder / file, tail(folder / file, TAIL)).intervals
    except OSError:
        return ()
    return next((rates for name in operations or (None,) if (rates := series(intervals, name))), ())


def series(intervals: Sequence[RateInterval], operation: str | None = None) -> Series:
    """Sum the rates of all clients by second, without a short last interval."""
    rates: dict[float, float] = {}
    for interval in intervals:
        if interval.length >= SHORTEST and operation in (None, interval.operation):
            second = float(interval.second)
            rates[second] = rates.get(second, 0.0) + interval.operations / interval.length
    return list(rates.items())


def p99_series(report: ClientReport) -> Series:
    """Read the 99th percentiles, in microseconds, of intervals that have one of all clients, and operations enough."""
    lines = [line for line in report.of("interval") if "p99" in line and has_percentile(line.get("operations", 0), 99)]
    return [(float(line["second"]), line["p99"] * MICROSECONDS) for line in lines]


def client_rates(intervals: Sequence[RateInterval]) -> list[ClientRate]:
    return [
        ClientRate(
            interval.client,
            interval.second,
            interval.operation,
            interval.operations / interval.length,
            (interval.longest or 0.0) * MICROSECONDS or None,
        )
        for interval in intervals
        if interval.client is not None and interval.length > 0
    ]


def standard_metrics(report: ClientReport) -> dict[str, float]:
    """Give the metrics that all kinds share: those that the report names, else those that follow from its lines."""
    lines, counts = report.histograms, bucket_counts(report.histograms)
    operations = float(sum(counts.values()) or sum(interval.operations for interval in report.intervals))
    metrics = {"operations": operations} if operations else {}
    if report.of("end"):
        metrics["seconds"] = report.seconds
        if operations and report.seconds > 0:
            metrics["qps"] = operations / report.seconds
    named = {line["name"]: float(line["value"]) for line in report.of("metric") if line["name"] in STANDARD}
    return {**metrics, **latencies(lines), **named}


def histograms(report: ClientReport) -> list[Buckets]:
    """Merge the histograms of a report by operation."""
    lines: dict[str, list[Line]] = {}
    for line in report.histograms:
        lines.setdefault(str(line.get("operation", "")), []).append(line)
    counts = {operation: bucket_counts(group) for operation, group in lines.items()}
    return [histogram(operation, counts[operation]) for operation in counts if counts[operation]]


def bucket_counts(lines: Sequence[Line]) -> dict[int, int]:
    """Merge the histograms of several lines: bucket -> operations."""
    counts: dict[int, int] = {}
    for line in lines:
        for bucket, count in line["buckets"]:
            counts[bucket] = counts.get(bucket, 0) + int(count)
    return dict(sorted(counts.items()))


def histogram(operation: str, counts: Mapping[int, int]) -> Buckets:
    least = [_limit(bucket) if bucket else 0.0 for bucket in counts]
    return Buckets(operation, least, [_limit(bucket + 1) for bucket in counts], list(counts.values()))


def percentiles(counts: Mapping[int, int]) -> dict[str, float]:
    """Give the percentiles in microseconds: the upper limit of the bucket that has the operation."""
    ranks = percentile_ranks(sum(counts.values()))
    return {name: _limit(value_at_rank(counts.items(), rank) + 1) for name, rank in ranks.items()}


def percentile_ranks(operations: int) -> dict[str, float]:
    """Give the rank of each percentile that so many operations have."""
    shares = {name: percent for name, percent in PERCENTILES.items() if has_percentile(operations, percent)}
    return {name: operations * percent / 100 for name, percent in shares.items()}


def value_at_rank(counts: Iterable[tuple[float, int]], rank: float) -> float:
    """Find the value of the operation of this rank. `counts`: of operations by value, ascending."""
    total, last = 0, 0.0
    for value, count in counts:
        total, last = total + count, value
        if total >= rank:
            break
    return last


def total_count(lines: Sequence[Line]) -> float:
    return float(sum(line["count"] for line in lines))


def span(lines: Sequence[Line]) -> float:
    """Measure the seconds from the first client's start to the last one's end."""
    return float(max(line["ended"] for line in lines) - min(line["began"] for line in lines))


def run_seconds(report: ClientReport, lines: Sequence[Line]) -> float:
    """Measure how long operations were sent: of a schedule all of its time, and what late ones took beyond it."""
    schedules = report.of("schedule")
    return float(max(schedules[-1]["length"], report.seconds)) if schedules else span(lines)


def latencies(lines: Sequence[Line]) -> dict[str, float]:
    """Give the mean and the maximum only where all lines of operations have what they follow from."""
    counts, metrics = bucket_counts(lines), {}
    if counts and all("seconds" in line for line in lines):
        metrics["avg_us"] = sum(float(line["seconds"]) for line in lines) / sum(counts.values()) * MICROSECONDS
    if counts and all("longest" in line for line in lines):
        metrics["max_us"] = max(float(line["longest"]) for line in lines) * MICROSECONDS
    return {**metrics, **percentiles(counts)}


# Clients of several operations: templates/clients/operation_lines.lua.


def operation_metrics(name: str) -> Iterator[Metric]:
    yield Metric(f"{name}_share_pct", "%", None, f"Share of the operations that were `{name}`.", STEP)
    yield Metric(f"{name}_avg_us", "us", "lower", f"Mean latency of `{name}`.", STEP)
    for percent in ("50", "95", "99"):
        definition = f"{percent}th percentile of the latency of `{name}`."
        yield Metric(f"{name}_p{percent}_us", "us", "lower", definition, STEP)
    yield Metric(f"{name}_max_us", "us", "lower", f"Highest latency of `{name}`.", STEP)


def over_limit(report: ClientReport, settings: Mapping[str, Any]) -> dict[str, float]:
    """Give the share of the seconds in which some operation of some client was over the limit, also one that waited."""
    limit = settings.get("latency_limit")
    longest = [
        (round(interval.second), interval.longest)
        for interval in report.intervals
        if interval.length >= SHORTEST and interval.longest is not None
    ]
    if limit is None or not longest:
        return {}
    spans = (range(math.floor(second - time + limit) + 1, second + 1) for second, time in longest if time > limit)
    return {"over_limit_pct": 100 * len({second for span in spans for second in span if second > 0}) / max(longest)[0]}


def operation_figures(report: ClientReport, metrics: Mapping[str, float], warnings: Sequence[str] = ()) -> Figures:
    groups = operation_roles(report)
    figures = Figures(
        {**metrics, "retries": float(sum(line["retries"] for lines in groups.values() for line in lines))},
        {},
        series(report.intervals),
        warnings,
        histograms=[histogram(operation, bucket_counts(lines)) for operation, lines in groups.items()],
        rates=client_rates(report.intervals),
    )
    return rated(report, figures)


def operation_latencies(report: ClientReport) -> dict[str, float]:
    """Give rate and latencies of all operations together, then the share and the latencies of each."""
    groups = operation_roles(report)
    roles = [line for lines in groups.values() for line in lines]
    count, seconds = total_count(roles), run_seconds(report, roles)
    metrics = {"operations": count, "seconds": seconds, "qps": count / seconds, **latencies(roles)}
    for operation, lines in groups.items():
        metrics[f"{operation}_share_pct"] = 100 * total_count(lines) / count
        metrics |= {f"{operation}_{name}": value for name, value in latencies(lines).items() if name in LATENCIES}
    return metrics


def operation_load(report: ClientReport) -> dict[str, float]:
    """Give the rate of a load's rows, without its indexes.

    The clock of the whole begins with a thread that another one may be ahead of.
    """
    roles = operation_roles(report)["load"]
    rows, seconds = total_count(roles), span(roles)
    index = float(sum(line["seconds"] for line in report.of("indexed")))
    return {
        "operations": rows,
        "seconds": max(report.seconds, seconds + index),
        "qps": rows / seconds,
        "insert_seconds": seconds,
        "index_seconds": index,
    }


def operation_roles(report: ClientReport) -> dict[str, list[Line]]:
    """Group the lines of clients by operation, without operations that no client has done."""
    groups: dict[str, list[Line]] = {}
    for line in report.of("role"):
        if line["count"]:
            groups.setdefault(line["operation"], []).append(line)
    if not groups:
        raise ParseError(f"{report.path.parent}: no client has done anything")
    return groups


# Rates: templates/open_loop, drivers/open_loop.py.


BEHIND, NO_LATENCY = "the clients did not keep up", "Waiting times say how long the step was: no latency"


def rated(report: ClientReport, figures: Figures, target: float | None = None) -> Figures:
    """Complete the figures of a step with a rate, whose latencies count from when operations were due.

    Clients that did not keep up have none: they left operations out, or missed the `target` of a step that sends all.
    """
    services, schedules = report.of("service"), report.of("schedule")
    if not services:
        return figures
    for line, name in (*product(services, ["left"]), *product(schedules, ["left", "asked"])):
        _check_number(line, name)
    metrics, warnings, histograms = dict(figures.metrics), list(figures.warnings), figures.histograms
    requested: list[ClientRate] = []
    if schedules:
        line, file = schedules[-1], report.path.with_name(open_loop.FILE)
        _check_number(line, "length", LEAST_LENGTH, MOST_LENGTH)
        points = line.get("points") or (file.read_text(encoding="utf-8") if file.exists() else "")
        schedule = _points(points) if points else [(0.0, line["asked"] / line["length"])]
        rates = open_loop.rates_by_second(schedule, line["length"])
        requested = [ClientRate(0, second, ASKED, rate) for second, rate in rates]
        metrics["target_qps"] = line["asked"] / line["length"]
    if main := [line for line in services if line.get("operation") != INSERT]:
        metrics |= {f"service_{name}": value for name, value in latencies(main).items()}
    metrics["backlog"] = float(sum(line["left"] for line in (*services, *schedules)))
    inserts = sum(line["left"] for line in services if line.get("operation") == INSERT)
    is_short = target is not None and not is_sustained(metrics["qps"], target)
    for late, operation in ((metrics["backlog"] - inserts, ""), (inserts, INSERT)):
        if late or (is_short and not operation):
            reason = (
                f"{late:,.0f} {operation or 'operation'}s were due and never begun" if late else "it missed its rate"
            )
            warnings.append(f"{BEHIND}: {reason}. {NO_LATENCY}")
            metrics = without_latency(metrics, operation)
            histograms = [item for item in histograms if (item.operation == INSERT) != (operation == INSERT)]
    return replace(
        figures, metrics=metrics, warnings=warnings, histograms=histograms, rates=[*figures.rates, *requested]
    )


def _check_number(line: Line, name: str, least: float = 0.0, most: float = math.inf) -> None:
    value: Any = line.get(name)
    if type(value) not in (int, float) or not least <= value < math.inf or value > most:
        bounds = f"from {least:g} to {most:,.0f}" if most < math.inf else f"from {least:g} on"
        raise ParseError(f"a line of `{line['report']}` has `{name}`: {value!r}; expected a number {bounds}")


def _points(text: Any) -> Sequence[open_loop.Point]:
    try:
        points = open_loop.parse_text(str(text))
    except ValueError:
        points = []
    if not points or not all(0 <= number < math.inf for point in points for number in point):
        form = "expected SECOND:RATE,SECOND:RATE, as 0:1000,300:20000"
        raise ParseError(f"a line of `schedule` has `points`: {text!r}; {form}")
    return points


def kept_up(figures: Figures, rate: float | None) -> Figures:
    """Leave out latencies of a program that was asked for transactions at random times, and fell short of the rate.

    It drops what it did not begin. Three standard deviations of their number are chance.
    """
    metrics = figures.metrics
    expected = (rate or 0.0) * metrics.get("seconds", 0.0)
    missing = expected - metrics.get("transactions_per_s", 0.0) * metrics.get("seconds", 0.0)
    if not expected or missing <= max(0.05 * expected, 3 * math.sqrt(expected)):
        return figures
    warning = f"{BEHIND}: {100 * missing / expected:.3g} % of the transactions were never begun. {NO_LATENCY}"
    return replace(figures, metrics=without_latency(metrics), histograms=(), warnings=[*figures.warnings, warning])


_LATENCY = re.compile(r"(?!service_)(?:(\w+)_)??(?:min|avg|max|p\d+(?:_\d+)?)_us")


def without_latency(metrics: Mapping[str, float], operation: str = "") -> dict[str, float]:
    """Leave out latencies: of inserts, or of all other operations."""
    matches = {name: _LATENCY.fullmatch(name) for name in metrics}
    late = {name for name, match in matches.items() if match and (match[1] == INSERT) == (operation == INSERT)}
    return {name: value for name, value in metrics.items() if name not in late}


class ReportFile:
    """A report that a client in Python writes into its step's folder."""

    def __init__(self, folder: Path) -> None:
        self._began, self._file = time.monotonic(), (folder / FILE).open("w", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Write the end, unless the client failed."""
        if error is None:
            self.write("end", seconds=time.monotonic() - self._began)
        self._file.close()

    def write(self, kind: str, **values: Any) -> None:
        print(json.dumps({"report": kind, **values}), file=self._file, flush=True)


def _intervals(line: Line) -> Iterator[RateInterval]:
    if "time_total" in line:  # of sysbench, whose load counts statements of many rows
        operations = (
            line["writes"] * line["batch"] if "batch" in line else line["reads"] + line["writes"] + line["other"]
        )
        yield RateInterval(line["time_total"], line["time_interval"], operations)
        return
    for name, (operation, longest) in _COUNTS.items():
        if name in line:
            length, operation_name = line["interval"], line.get("operation", operation)
            yield RateInterval(
                line["second"], length, line[name], operation_name, line.get("client"), line.get(longest)
            )


def _limit(bucket: float) -> float:
    return float(2 ** (bucket / PER_DOUBLING))
