"""db_bench's own output: its header, a result line for each benchmark, latency histograms, and lines of its clients."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from stepgrid.model.figures import Buckets, ClientRate, ParseError
from stepgrid.model.metrics import has_percentile
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.db_bench.benchmarks import Release, has_background_writer

# The header: what db_bench says of itself and of its data before it begins; some of it goes to stderr.

_HEADER_LINES = {
    "version": ("RocksDB:", r"\nRocksDB: +version (\S+)$"),
    "fork": ("Speedb:", r"\n(Speedb: +version \S+)$"),  # a count of its own: no release of RocksDB
    "compression": ("Compression:", r"\nCompression: (.+)$"),
    "memtablerep": ("Memtablerep:", r"\nMemtablerep: (.+)$"),
    "key_bytes": ("Keys:", r"\nKeys: +(\d+) bytes each"),
    "value_bytes": ("Values:", r"\nValues: +(\d+) bytes each"),
}
# a plain search for the beginning of the line takes half the time where the line is missing
_FACTS = {name: (f"\n{begin}", re.compile(line, re.MULTILINE)) for name, (begin, line) in _HEADER_LINES.items()}
_WARNING_BEGIN = "WARNING: "
_WARNING = re.compile(rf"\n{_WARNING_BEGIN}(.+)$", re.MULTILINE)


def header_facts(stdout: str, stderr: str) -> dict[str, str]:
    text = f"\n{stderr}\n{stdout}"
    matches = {name: line.search(text) if begin in text else None for name, (begin, line) in _FACTS.items()}
    return {name: " ".join(match[1].split()) for name, match in matches.items() if match}


def printed_release(facts: Mapping[str, str]) -> Release:
    """Split `9.9.3` into numbers; () if the header has no release."""
    parts = facts.get("version", "").split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()


def command_threads(text: str) -> int | None:
    """Read --threads of the command that published scripts print above its output."""
    if " --threads=" not in text:  # the search looks at every line
        return None
    match = re.search(r"^.*db_bench.* --threads=(\d+)\b", text, re.MULTILINE)
    return int(match[1]) if match else None


def printed_warnings(*texts: str) -> tuple[str, ...]:
    """Collect each warning once, in order."""
    lines = (line for text in texts if _WARNING_BEGIN in text for line in _WARNING.findall(f"\n{text}"))
    return tuple(dict.fromkeys(line.strip() for line in lines))


def writer_note(facts: Mapping[str, str], write_rate: int | None) -> str:
    note = "includes the background writer, which qps does not"
    if not (write_rate and "key_bytes" in facts and "value_bytes" in facts):
        return note
    record = int(facts["key_bytes"]) + int(facts["value_bytes"])
    return f"{note}: at most {write_rate // record} operations/s ({write_rate} bytes/s, {record} bytes each)"


# Latency histograms (--histogram) follow a result line, one for each kind of operation.

OPERATIONS = ("read", "write", "delete", "seek", "merge")  # kinds that benchmarks mix
PERCENTILES: Mapping[str, str] = {
    "P50": "p50_us",
    "P75": "p75_us",
    "P99": "p99_us",
    "P99.9": "p99_9_us",
    "P99.99": "p99_99_us",
}
_LATENCIES = ("avg_us", "max_us", *PERCENTILES.values())  # those of a histogram's statistics that are metrics

_NEXT = r"(?:\w+ +: +\d+\.\d+ micros/op|DB path:|\*\* )"
_END = re.compile(rf"\n{_NEXT}")
# with the end of the line before it: a literal text is found fast, the beginning of a line is not
_HISTOGRAM_BEGIN = "\nMicroseconds per "
STATISTICS = (
    r"\nCount: (?P<count>\d+) +Average: (?P<average>\d+\.\d+) +StdDev: (?P<deviation>\S+)"
    r"\nMin: (?P<min>\d+) +Median: (?P<median>\S+) +Max: (?P<max>\d+)"
    r"\nPercentiles:(?P<percentiles>.*)"
)
_HISTOGRAM_HEAD = re.compile(
    rf"{_HISTOGRAM_BEGIN}(?P<operation>\w+):{STATISTICS}(?:\n(?!{_NEXT}).*)?"  # a line of dashes is before the buckets
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")  # the deviation of no sample is none
_PERCENTILE = re.compile(r"(P[\d.]+): (\d+\.\d+)")
_BUCKET_LINE = r"[\[(] *+(\d++), *+(\d++) *+[\])] ++(\d++) "
_BUCKET, _OTHER_LINE = re.compile(rf"\n{_BUCKET_LINE}"), re.compile(rf"\n(?!{_BUCKET_LINE})")


class Histogram(Struct, frozen=True):
    operation: str
    count: int
    statistics: Mapping[str, float]  # average, deviation, percentiles …
    buckets: Sequence[Sequence[str]] = ()  # columns: from, to, count


def histograms_after(text: str, start: int) -> list[Histogram]:
    """Read the histograms between a result line and the next output of another kind."""
    tail = f"\n{text[start:]}"
    return [
        Histogram(head["operation"], int(head["count"]), read_statistics(head), _buckets(tail, head.end()))
        for head in _histogram_heads(tail)
        if int(head["count"])
    ]


def histogram_figures(histograms: Sequence[Histogram]) -> dict[str, float]:
    """Give each of several kinds of operation its own figures: percentiles have no mean."""
    named = {f"{item.operation}_": item for item in histograms if item.operation in OPERATIONS}
    return {
        prefix + name: histogram.statistics[name]
        for prefix, histogram in ({"": histograms[0]} if len(histograms) == 1 else named).items()
        for name in _LATENCIES
        if _has(histogram, name)
    }


def _has(histogram: Histogram, name: str) -> bool:
    percent = client_report.PERCENTILES.get(name)
    return name in histogram.statistics and (percent is None or has_percentile(histogram.count, percent))


def histogram_rows(histograms: Sequence[Histogram]) -> list[dict[str, float | str]]:
    """All statistics of each histogram, also those that are no metrics."""
    return [{"operation": histogram.operation, **histogram.statistics} for histogram in histograms]


def histogram_buckets(histograms: Sequence[Histogram]) -> list[Buckets]:
    buckets = []
    for histogram in histograms:
        if histogram.buckets:
            name = histogram.operation if len(histograms) > 1 else ""
            least, most, count = histogram.buckets
            buckets.append(Buckets(name, list(map(float, least)), list(map(float, most)), list(map(int, count))))
    return buckets


def read_statistics(head: re.Match[str]) -> dict[str, float]:
    """Read a match of STATISTICS: microseconds, and the number of operations."""
    names = {"average": "avg_us", "deviation": "stddev_us", "min": "min_us", "median": "median_us", "max": "max_us"}
    values = {name: float(head[group]) for group, name in names.items() if _NUMBER.fullmatch(head[group])}
    percentiles = _PERCENTILE.findall(head["percentiles"])
    values |= {PERCENTILES[name]: float(value) for name, value in percentiles if name in PERCENTILES}
    return {"operations": float(head["count"])} | values


def _histogram_heads(text: str) -> Iterator[re.Match[str]]:
    start = 0
    while text.find(_HISTOGRAM_BEGIN, start) >= 0:
        head = _HISTOGRAM_HEAD.search(text, start)
        if not head or _END.search(text, start, head.start()):
            return
        yield head
        start = head.end()


def _buckets(text: str, start: int) -> Sequence[Sequence[str]]:
    """Read up to the first line that is no bucket."""
    end = text.find("\n\n", start)
    block = text[start : end if end >= 0 else len(text)]
    buckets = _BUCKET.findall(block)
    if len(buckets) != block.count("\n"):
        buckets = _BUCKET.findall(_OTHER_LINE.split(block, 1)[0])
    return list(zip(*buckets, strict=True))


# Result lines, in the form before RocksDB 7.3 and in the one since.

CLIENTS_TIME_SINCE: Release = (6, 0)

_RESULT_LINE = re.compile(
    r"^(?P<name>\w+) +: +(?P<usec>\d+\.\d+) micros/op (?P<qps>\d+) ops/sec"
    r"(?: (?P<seconds>\d+\.\d+) seconds (?P<operations>\d+) operations)?;(?P<tail>.*)$",
    re.MULTILINE,
)
_RATE = re.compile(r"^ +(\d+\.\d+) MB/s")
_HITS = re.compile(r"\((\d+) of (\d+) found[,)]")
_MIX = re.compile(
    r"\( Gets:(?P<gets>\d+) Puts:(?P<puts>\d+) Seek:(?P<seeks>\d+)"
    r"(?: of (?P<found>\d+) in \d+ found"  # before 7.1: the gets that found a key, in gets and seeks
    r"|, reads (?P<found_since>\d+) in (?P<looked_since>\d+) found, avg size: (?P<value>\S+) value, (?P<scan>\S+) scan)"
)


class ResultLine(NamedTuple):
    name: str
    start: int  # in the text
    end: int
    usec_per_op: float | None  # of the clients' time: with n clients n times the time between two operations
    printed_qps: int  # cut, not rounded
    seconds: float | None
    operations: int | None
    tail: str  # of the line, behind the rates


def result_lines(text: str) -> Iterator[ResultLine]:
    for match in _RESULT_LINE.finditer(text):
        yield ResultLine(
            name=match["name"],
            start=match.start(),
            end=match.end(),
            usec_per_op=float(match["usec"]),
            printed_qps=int(match["qps"]),
            seconds=float(match["seconds"]) if match["seconds"] else None,
            operations=int(match["operations"]) if match["operations"] else None,
            tail=match["tail"],
        )


def find_result(text: str, benchmark: str) -> ResultLine:
    """Find the first result line of the benchmark."""
    for line in result_lines(text):
        if line.name == benchmark:
            return line
    if skipped := re.search(rf"^{re.escape(benchmark)} +: skipped \((.+)\)$", text, re.MULTILINE):
        raise ParseError(f"db_bench skipped {benchmark}: {skipped[1]}")
    raise ParseError(f"no result line of {benchmark} (`{benchmark} : … micros/op … ops/sec`)")


def correct_client_time(line: ResultLine, release: Release, clients: int | None) -> ResultLine:
    """Multiply by the clients up to 5.18, which divides the wall time instead of the clients' time."""
    if not release or release >= CLIENTS_TIME_SINCE or clients == 1:
        return line
    return line._replace(usec_per_op=line.usec_per_op * clients if line.usec_per_op and clients else None)


def result_figures(line: ResultLine, histograms: Sequence[Histogram]) -> dict[str, float]:
    operations = line.operations or _sampled_operations(line, histograms)
    seconds, qps = line.seconds, _exact_qps(line)
    if seconds is None and operations and line.printed_qps:
        seconds = operations / line.printed_qps
    rate, hits = _RATE.search(line.tail), _HITS.search(line.tail)
    figures = {
        "qps": qps,
        "usec_per_op": line.usec_per_op,
        "qps_per_client": 1e6 / line.usec_per_op if line.usec_per_op else None,
        "seconds": seconds,
        "operations": operations,
        "mb_per_s": float(rate[1]) if rate else None,
        "found_pct": 100 * int(hits[1]) / int(hits[2]) if hits and int(hits[2]) else None,
    }
    return {name: float(value) for name, value in figures.items() if value is not None} | _mix_figures(line.tail, qps)


def _exact_qps(line: ResultLine) -> float | None:
    """Take the printed rate; compute a small one, of which the cut fraction is a part that matters."""
    if line.printed_qps < 1000 and line.operations is not None and line.seconds:
        return line.operations / line.seconds
    return line.printed_qps or None  # 0 may be any rate below one


def _sampled_operations(line: ResultLine, histograms: Sequence[Histogram]) -> int | None:
    """Count the operations of an old result line by its histograms, unless a sample stands for a batch."""
    count = sum(histogram.count for histogram in histograms)
    if not count:
        return None
    mean = sum(histogram.count * histogram.statistics["avg_us"] for histogram in histograms) / count
    return count if line.usec_per_op and 0.8 <= mean / line.usec_per_op <= 1.2 else None


def _mix_figures(tail: str, qps: float | None) -> dict[str, float]:
    """Read what mixgraph says of its operations: those of the first client, if there are several."""
    match = _MIX.search(tail)
    if match is None:
        return {}
    counts = {name: int(match[name]) for name in ("gets", "puts", "seeks")}
    total = sum(counts.values())
    figures = {f"{name}_per_s": qps * count / total for name, count in counts.items()} if qps and total else {}
    hits, lookups = match["found"] or match["found_since"], int(match["looked_since"] or match["gets"])
    if lookups:
        figures["found_pct"] = 100 * int(hits) / lookups
    for name, text in {"put_value_bytes": match["value"], "scan_keys": match["scan"]}.items():
        try:
            value = float(text or "nan")
        except ValueError:
            continue
        if math.isfinite(value):  # without puts, or seeks, it prints nan
            figures[name] = value
    return figures


# --perf_level adds counters to a result: of one client, if there are several.

_PERF_BEGIN = "PERF_CONTEXT:\n"
_PERF_LINE = re.compile(rf"{_PERF_BEGIN}(.*)$", re.MULTILINE)
_PERF_COUNTER = re.compile(r"(?:^|, )(\w+) = (\d+)(?=,|$)")
_PERF_LEVELS = re.compile(r"(?<!\w)(\w++) = ((?:\d++@level\d++(?:, )?)+)")
_PERF_LEVEL = re.compile(r"(?<!\d)(\d++)@level(\d+)")


def perf_counters(block: str) -> dict[str, float]:
    """Read the block that begins with a result line; counters of a level are called NAME@levelN."""
    match = _PERF_LINE.search(block) if _PERF_BEGIN in block else None
    if match is None:
        return {}
    counters = {f"perf_context.{name}": float(value) for name, value in _PERF_COUNTER.findall(match[1])}
    for name, values in _PERF_LEVELS.findall(match[1]):
        levels = _PERF_LEVEL.findall(values)
        counters |= {f"perf_context.{name}@level{level}": float(value) for value, level in levels}
    return counters


# Each client reports while it runs (--stats_interval_seconds).

WRITER = 0  # the client that writes beside the readers of a *whilewriting benchmark

_INTERVAL = (
    r"^.*\.\.\. thread (?P<client>{client}): \(\d+,(?P<operations>\d+)\) ops and \((?P<rate>\d+\.\d+),\S+\) ops/second"
    r" in \(\S+?,(?P<seconds>\d+\.\d+)\) seconds$"
)
_INTERVAL_LINE = re.compile(_INTERVAL.format(client=r"\d+"), re.MULTILINE)
# the first client adds the engine's statistics of that moment, which are not those of the end
_INTERVAL_DUMP = re.compile(
    _INTERVAL.format(client="0") + r"\n(?:(?!^\w+ +: +\d+\.\d+ micros/op).*\n)*?Interval stall: .*\n"
    r"(?:Write Stall \(count\): .*\n|num-running-\w+: .*\n|\n)*",
    re.MULTILINE,
)


def client_rates(text: str) -> Iterator[ClientRate]:
    for match in _INTERVAL_LINE.finditer(text):
        yield ClientRate(int(match["client"]), float(match["seconds"]), "", float(match["rate"]))


def remove_interval_dumps(text: str) -> str:
    return _INTERVAL_DUMP.sub("", text)


def writer_figures(benchmark: str, text: str, metrics: Mapping[str, float], alone: bool) -> dict[str, float]:
    """Read the rate of the background writer, whose operations are not in the result.

    `text`: what the clients printed during this benchmark. `alone`: no other benchmark ran, so that all keys
    that were written are the writer's.
    """
    if not has_background_writer(benchmark):
        return {}
    rate = None
    for match in _INTERVAL_LINE.finditer(text):
        if int(match["client"]) == WRITER and float(match["seconds"]):
            rate = int(match["operations"]) / float(match["seconds"])
    keys, seconds = metrics.get("keys_written"), metrics.get("seconds")
    if rate is None and alone and keys is not None and seconds:
        rate = keys / seconds
    return {} if rate is None else {"writer_qps": rate}
