"""Figures of pgbench: its summary (stdout), its progress (stderr) and the transactions of its log."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Buckets, Figures, ParseError, PrintedStep
from stepgrid.model.metrics import Metric, MetricSet, has_percentile
from stepgrid.plugins import driver
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import read_text
from stepgrid_databases.drivers.pgbench import BUILTIN, LOG, logged_share, series, short_name

MOST_STATEMENTS = 20  # of a script of one's own, whose latencies are metrics
PARTS = ("avg_us", "p50_us", "p99_us")  # metrics of each script of several
ROWS = 100_011  # of a scale: 100,000 accounts, 10 tellers, a branch
_RUN = "the run, without connecting"

_METRICS = (
    Metric("failed_transactions", "transactions", "lower",
           "Transactions that failed for good: a deadlock or a serialization error, after all tries.", _RUN),
    Metric("retried_transactions", "transactions", "lower", "Transactions that were tried more than once.", _RUN),
    Metric("skipped_transactions", "transactions", "lower",
           "Transactions of a step with a rate that were too late to begin within the latency limit.", _RUN),
    Metric("late_transactions", "transactions", "lower", "Transactions slower than the latency limit.", _RUN),
    Metric("schedule_lag_us", "us", "lower",
           "Mean time by which transactions of a step with a rate began late; a part of their latency.", _RUN),
)  # fmt: skip
METRICS = MetricSet({"pgbench": _METRICS})

_COUNTS = {
    "transactions": r"^number of transactions actually processed: (\d+)",
    "failed_transactions": r"^number of failed transactions: (\d+)",
    "retried_transactions": r"^number of transactions retried: (\d+)",
    "ignored_errors": r"^total number of retries: (\d+)",
    "skipped_transactions": r"^number of transactions skipped: (\d+)",
    "late_transactions": r"^number of transactions above the .* latency limit: (\d+)",
}
_MILLISECONDS = {
    "avg_us": r"^latency average = (\d+\.\d+) ms",
    "schedule_lag_us": r"^rate limit schedule lag: avg (\d+\.\d+)",
}
# up to 13 there are two lines, of which the other includes connecting
_RATE = re.compile(r"^tps = (\d+\.\d+) \((?:without initial connection time|excluding.*)\)$", re.MULTILINE)
_FACTS = {"pgbench": r"^pgbench \((.+)\)$", "scale": r"^scaling factor: (\d+)", "protocol": r"^query mode: (\w+)"}
_STATEMENTS = re.compile(r"^ ?-? ?statement latencies in milliseconds.*:\n((?: {4,}.*\n?)+)", re.MULTILINE)
_STATEMENT = re.compile(r"^ +(\d+\.\d+)(?: +\d+)*  ([^\\\s].*)$", re.MULTILINE)  # without meta commands
_DONE = re.compile(r"^done in (\d+\.\d+) s \((.*)\)\.$", re.MULTILINE)
_PART = re.compile(r"(generate|primary keys) (\d+\.\d+) s")
_PART_METRICS = {"generate": "insert_seconds", "primary keys": "index_seconds"}


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    if settings["action"] == "init":
        return Figures(_init_metrics(read_text(folder / "stderr"), settings["scale"]))
    text, names = read_text(folder / "stdout"), [short_name(name) for name in sorted(settings["scripts"])]
    share, warnings = logged_share(settings), list[str]()
    try:
        latencies, p99 = _read_log(folder) if share else ({}, [])
    except OSError as error:
        latencies, p99, warnings = {}, [], [f"no percentiles: the log cannot be read: {error}"]
    metrics = {**_run_metrics(text), **latency_metrics(sum(latencies.values(), Counter()), share == 1)}
    if len(names) > 1:
        for number, counts in latencies.items():
            of_script = latency_metrics(counts, share == 1)
            metrics |= {f"{names[number]}_{part}": of_script[part] for part in PARTS if part in of_script}
    facts = {**_match_all(_FACTS, text), "logged": f"{share * 100:.3g} % of the transactions"}
    for name, us, statement in _statements(text, names):
        metrics[name], facts[name.removesuffix("_us").replace("_", " ")] = us, statement
    histograms = [_histogram(names[number] if len(names) > 1 else "", latencies[number]) for number in latencies]
    progress = series(read_text(folder / "stderr"))
    figures = Figures(metrics, facts, progress, warnings, histograms=histograms, p99=p99)
    return client_report.kept_up(figures, settings.get("rate"))


def printed(path: Path) -> Sequence[PrintedStep]:
    text = read_text(path)
    return [PrintedStep("pgbench", Figures(_run_metrics(text), _match_all(_FACTS, text), series(text)))]


def script_metrics(settings: Mapping[str, Any]) -> dict[str, Metric]:
    """Describe metrics of the scripts of a step: percentiles where it has several; its statements."""
    scripts = settings.get("scripts") or {}
    metrics = []
    for name in sorted(scripts):
        prefix = f"{short_name(name)}_" if len(scripts) > 1 else ""
        if prefix:
            for part in PARTS:
                metrics.append(Metric(f"{prefix}{part}", "us", "lower", f"As `{part}`, of the script {name}.", _RUN))
        for number in range(BUILTIN.get(name, MOST_STATEMENTS) if settings["report_per_command"] else 0):
            definition = f"Mean latency of statement {number + 1} of the script {name}."
            metrics.append(Metric(f"{prefix}statement_{number + 1}_us", "us", "lower", definition, _RUN))
    return {metric.name: metric for metric in metrics}


def _run_metrics(text: str) -> dict[str, float]:
    rate = _RATE.search(text)
    if rate is None:
        raise ParseError("pgbench's summary has no line `tps = … (without initial connection time)`")
    counts = {name: float(value) for name, value in _match_all(_COUNTS, text).items()}
    latencies = {name: float(value) * 1000 for name, value in _match_all(_MILLISECONDS, text).items()}
    metrics = {"qps": float(rate[1]), "transactions_per_s": float(rate[1]), **counts, **latencies}
    if "transactions" in counts:
        metrics["operations"] = counts["transactions"]
        if metrics["qps"]:
            metrics["seconds"] = counts["transactions"] / metrics["qps"]
    return metrics


def _match_all(patterns: Mapping[str, str], text: str) -> dict[str, str]:
    matches = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in patterns.items()}
    return {name: match[1] for name, match in matches.items() if match}


def _statements(text: str, names: Sequence[str]) -> Iterator[tuple[str, float, str]]:
    """Yield a metric, its microseconds and the statement; one that never ran has no time."""
    for name, part in zip(names, _STATEMENTS.findall(text), strict=False):  # without -r there are none
        prefix = f"{name}_" if len(names) > 1 else ""
        for number, (milliseconds, statement) in enumerate(_STATEMENT.findall(part)[:MOST_STATEMENTS], 1):
            if float(milliseconds):
                yield f"{prefix}statement_{number}_us", float(milliseconds) * 1000, statement


def _init_metrics(text: str, scale: int) -> dict[str, float]:
    """Read `done in 0.49 s (drop tables 0.00 s, create tables 0.01 s, …).`; rows that were made are its operations."""
    summary = _DONE.search(text)
    if summary is None:
        raise ParseError("stderr has no line `done in … s`: pgbench did not say how long the initialization took")
    metrics = {"seconds": float(summary[1])}
    metrics |= {_PART_METRICS[name]: float(seconds) for name, seconds in _PART.findall(summary[2])}
    if "insert_seconds" in metrics and metrics["seconds"]:
        metrics |= {"operations": float(scale * ROWS), "qps": scale * ROWS / metrics["seconds"]}
    return metrics


# The log: a line for each transaction, `client number time script second microsecond [lag] [retries]`.


def _read_log(folder: Path) -> tuple[dict[int, Counter[int]], list[tuple[float, float]]]:
    """Count the latencies in microseconds of each script, and find the 99th percentile of each second.

    Failed and skipped transactions have a word instead."""
    lines: Counter[tuple[bytes, bytes]] = Counter()
    seconds: dict[int, array[int]] = {}
    for path in sorted(folder.glob(f"{LOG}.*")):
        for line in driver.output_lines(path):
            fields = line.split(b" ", 5)
            if len(fields) > 4 and fields[2].isdigit() and fields[4].isdigit():
                lines[fields[3], fields[2]] += 1
                seconds.setdefault(int(fields[4]), array("Q")).append(int(fields[2]))
    counts: dict[int, Counter[int]] = {}
    for (script, time), count in sorted(lines.items()):
        counts.setdefault(int(script), Counter())[int(time)] += count
    first = min(seconds, default=0)
    many = [(second, times) for second, times in sorted(seconds.items()) if has_percentile(len(times), 99)]
    return counts, [(float(second - first + 1), float(_p99(times))) for second, times in many]


def _p99(times: Sequence[int]) -> int:
    return sorted(times)[math.ceil(len(times) * 0.99) - 1]


def latency_metrics(counts: Counter[int], is_complete: bool) -> dict[str, float]:
    """Compute exact percentiles: the latency of the transaction of that rank. A sample does not have the extremes."""
    total, times = counts.total(), sorted(counts.items())
    if not total:
        return {}
    ranks = client_report.percentile_ranks(total)
    metrics = {name: float(client_report.value_at_rank(times, rank)) for name, rank in ranks.items()}
    if is_complete:
        mean = sum(time * count for time, count in times) / total
        metrics |= {"min_us": float(times[0][0]), "avg_us": mean, "max_us": float(times[-1][0])}
    return metrics


def _histogram(operation: str, counts: Counter[int]) -> Buckets:
    """Count times by the buckets of all clients' histograms, so that repeats can be added up."""
    buckets: Counter[int] = Counter()
    for time, count in counts.items():
        buckets[math.floor(client_report.PER_DOUBLING * math.log2(max(time, 1)))] += count
    return client_report.histogram(operation, dict(sorted(buckets.items())))
