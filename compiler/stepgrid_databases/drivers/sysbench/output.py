"""The text that sysbench prints: figures by name, seconds, a histogram; a FATAL is a failure with its message.

Besides the output of a step, this reads outputs that people already have: one run, or several in one file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from stepgrid.model.figures import Figures, ParseError, PrintedStep, by_column
from stepgrid.model.metrics import has_percentile
from stepgrid.model.records import replace
from stepgrid.plugins import driver
from stepgrid_databases.drivers.client_report import percentile_ranks, value_at_rank

OUTPUT = "stdout"
LONGEST = 300  # characters of a message
STEP = math.exp(math.log(100_000 / 0.001) / 1023)  # from one bucket's latency to the next: 1024 of 1 us to 100 s

_ABORTING = ", aborting..."
NUMBER = r"(\d+(?:\.\d+)?)"
_FATAL = re.compile(r"^FATAL: (.+)$", re.MULTILINE)
_WARNING = re.compile(r"^WARNING: (.+)$", re.MULTILINE)
_HEAD = re.compile(r"^sysbench (?P<version>\S+) \(using (?P<lua>.+)\)$", re.MULTILINE)
_THREADS = re.compile(r"^Number of threads: (?P<threads>\d+)$", re.MULTILINE)
_SCRIPT = re.compile(r"(?<![\w.-])[.-]*+(?P<name>\w[\w.-]*)\.lua\b")
_SECOND = re.compile(r"^\[ (\d+)s \] thds: \d+ .*?\bqps: (\d+\.\d+) ", re.MULTILINE)  # of --report-interval
_P99 = re.compile(r"^\[ (\d+)s \] thds: \d+ tps: .*?\blat \(ms,99%\): (\d+\.\d+) ", re.MULTILINE)
_EVENTS = re.compile(r"^\[ (\d+)s \] thds: \d+ tps: (\d+\.\d+) .*?\blat \(ms,99%\): \d", re.MULTILINE)
_HISTOGRAM, _STATISTICS = "Latency histogram (values are in milliseconds)", "SQL statistics:\n"
_BUCKET = re.compile(r"^ +(\d+\.\d+) \|\**? +(\d+)$", re.MULTILINE)
_RATED = re.compile(rf"^ +([a-z][a-z ]*+): +(\d+) +\({NUMBER} per sec\.\)$", re.MULTILINE)
_PLAIN = re.compile(rf"^ +([a-z0-9.()/][a-z0-9. ()/]*+): +{NUMBER}s?$", re.MULTILINE)
_PERCENTILE = re.compile(rf"^{NUMBER}th percentile$")
_LATENCY = re.compile(r"^Latency \(ms\):$", re.MULTILINE)
_SECTION = re.compile(r"^\S", re.MULTILINE)


class CountAndRate(Struct, frozen=True):
    """A line with a count and a rate per second; the rate also as it is printed."""

    count: int
    per_second: float
    text: str


class Summary(Struct, frozen=True):
    """The statistics at the end of a run."""

    rated: Mapping[str, CountAndRate]  # transactions, queries, ignored errors, reconnects
    queries: Mapping[str, int]  # read, write, other, total
    seconds: float | None
    events: int | None
    latency: Mapping[str, float]  # milliseconds by name: min, avg, max, sum
    percentiles: Mapping[float, float]  # 95.0 -> milliseconds


def read(path: Path) -> str:
    try:
        content = driver.read_output(path)
    except FileNotFoundError:
        raise ParseError(f"{path}: there is no such file, where sysbench's output was expected") from None
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def text_of(folder: Path) -> str:
    """Read the output of a step that failed, if it has any."""
    try:
        return read(folder / OUTPUT)
    except ParseError:
        return ""


def parse(text: str) -> Figures:
    """Parse the output of one run; ParseError says why it has no figures."""
    if message := failure(text):
        raise ParseError(f"sysbench failed: {message}")
    lines = bucket_lines(text)
    half = math.sqrt(STEP)  # a latency counts to the bucket that is nearest to it, by its logarithm
    buckets = by_column(("", value * 1000 / half, value * 1000 * half, count) for value, count in lines)
    warnings = [warning.strip() for warning in _WARNING.findall(text)]
    pairs = zip(series(text, _P99), series(text, _EVENTS), strict=True)
    p99 = [(second, milliseconds * 1000) for (second, milliseconds), (_, count) in pairs if has_percentile(count, 99)]
    return Figures(_metrics(summary(text), lines), facts(text), series(text), warnings, histograms=buckets, p99=p99)


def failure(text: str) -> str | None:
    """Find the first FATAL: the next ones are often its consequence. The second one explains a failed connection."""
    messages = [
        message if len(message) <= LONGEST else f"{message[:LONGEST]} …"  # it may hold a statement of a thousand rows
        for message in (match.strip() for match in _FATAL.findall(text))
    ]
    if len(messages) > 1 and messages[0].endswith(_ABORTING):
        return f"{messages[0].removesuffix(_ABORTING)}: {messages[1]}"
    return messages[0] if messages else None


def facts(text: str) -> dict[str, str]:
    head, threads = _HEAD.search(text), _THREADS.search(text)
    return {
        **({"sysbench": head["version"], "lua": head["lua"]} if head else {}),
        **({"threads": threads["threads"]} if threads else {}),
    }


def series(text: str, pattern: re.Pattern[str] = _SECOND) -> Sequence[tuple[float, float]]:
    """Read (seconds since the start, queries per second). After a warmup sysbench counts from 0 again: from there."""
    rates = [(float(second), float(value)) for second, value in pattern.findall(text)]
    restarts = [index for index in range(1, len(rates)) if rates[index][0] <= rates[index - 1][0]]
    return rates[restarts[-1] :] if restarts else rates


def summary(text: str) -> Summary:
    """Read the statistics by name; 1.0 calls a run's length `total time`, 1.1 `time elapsed`."""
    start = text.find(_STATISTICS)
    if start < 0:
        raise ParseError("no statistics (`SQL statistics:`)")
    end = text[start:]
    rated = {name: CountAndRate(int(count), float(rate), rate) for name, count, rate in _RATED.findall(end)}
    if "queries" not in rated:
        raise ParseError("no line with the rate of queries (`queries: … (… per sec.)`)")
    plain = dict(_PLAIN.findall(end))
    counts = {name: int(value) for name, value in plain.items() if value.isdecimal()}
    latency = _latency(end)
    seconds = plain.get("total time", plain.get("time elapsed"))
    return Summary(
        rated=rated,
        queries={name: counts[name] for name in ("read", "write", "other", "total") if name in counts},
        seconds=float(seconds) if seconds is not None else None,
        events=counts.get("total number of events"),
        latency={name: value for name, value in latency.items() if not _PERCENTILE.match(name)},
        percentiles={float(match[1]): value for name, value in latency.items() if (match := _PERCENTILE.match(name))},
    )


def bucket_lines(text: str) -> Sequence[tuple[float, int]]:
    """Read (milliseconds, events) of a histogram, ascending; empty without --histogram."""
    start = text.find(_HISTOGRAM)
    if start < 0:
        return ()
    end = text.find("SQL statistics:", start)
    lines = _BUCKET.findall(text, start, end if end >= 0 else len(text))
    return [(float(value), int(count)) for value, count in lines]


def percentiles(lines: Sequence[tuple[float, int]]) -> dict[str, float]:
    """Give the percentiles in microseconds: the latency of the bucket of an event, which is found as sysbench does."""
    ranks = percentile_ranks(sum(count for _, count in lines))
    return {name: _microseconds(value_at_rank(lines, int(rank + 0.5))) for name, rank in ranks.items()}


def printed(path: Path) -> Sequence[PrintedStep]:
    """Read a file with one run, or with several one after the other."""
    text = read(path)
    heads = [match.start() for match in _HEAD.finditer(text)]
    if not heads and _STATISTICS not in text:
        raise ParseError(
            f"{path}: no output of sysbench: neither its first line (`sysbench VERSION (using LUA)`) nor "
            "its statistics (`SQL statistics:`)"
        )
    limits = [0, *heads[1:], len(text)]  # text before the first head, such as the command, is of the first run
    return [_printed_step(text[start:end], path, number) for number, (start, end) in enumerate(pairwise(limits), 1)]


def _printed_step(text: str, path: Path, number: int) -> PrintedStep:
    """Parse one run; one that failed has no figures, and a warning that says why."""
    script = _SCRIPT.search(text)
    try:
        figures = parse(text)
    except ParseError as problem:
        if not failure(text):
            raise ParseError(f"{path}: run {number}: {problem}") from None
        figures = replace(Figures({}), facts=facts(text), warnings=[str(problem)])
    return PrintedStep(script["name"] if script else path.name, figures)


def _metrics(statistics: Summary, lines: Sequence[tuple[float, int]]) -> dict[str, float]:
    queries, transactions = statistics.rated["queries"], statistics.rated.get("transactions")
    counts = {name: rated.count for name, rated in statistics.rated.items()}
    latencies = {f"{name}_us": statistics.latency.get(name) for name in ("min", "avg", "max")}
    optional: dict[str, float | None] = {
        "qps": queries.per_second,
        "operations": queries.count,
        "seconds": statistics.seconds,
        **{name: None if value is None else _microseconds(value) for name, value in latencies.items()},
        **{f"{name}_queries": statistics.queries.get(name) for name in ("read", "write", "other")},
        "transactions": counts.get("transactions"),
        "transactions_per_s": transactions.per_second if transactions else None,
        "ignored_errors": counts.get("ignored errors"),
        "reconnects": counts.get("reconnects"),
    }
    metrics = {name: float(value) for name, value in optional.items() if value is not None}
    for percent, value in statistics.percentiles.items():
        if statistics.events is not None and not has_percentile(statistics.events, percent):
            continue
        metrics[f"p{percent:g}_us".replace(".", "_")] = _microseconds(value)
    return {**metrics, **percentiles(lines)}


def _latency(text: str) -> dict[str, float]:
    head = _LATENCY.search(text)
    if head is None:
        return {}
    end = _SECTION.search(text, head.end())
    block = text[head.end() : end.start() if end else len(text)]
    return {name: float(value) for name, value in _PLAIN.findall(block)}


def _microseconds(milliseconds: float) -> float:
    """Convert to as many digits as sysbench prints, and none that binary fractions add."""
    return round(milliseconds * 1000, 3)
