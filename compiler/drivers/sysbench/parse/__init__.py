"""What sysbench says: its figures by name, its histogram, its seconds; a FATAL is a failure with its message."""

from __future__ import annotations

import re

from compiler.drivers.protocol import Figures, ParseError
from compiler.drivers.sysbench.parse import histogram
from compiler.drivers.sysbench.parse.report import Report, report
from compiler.drivers.sysbench.parse.series import series

MICROSECONDS = 1000  # of a millisecond
_FATAL = re.compile(r"^(?:\(last message repeated .*\n|FATAL: (?P<said>.+)$)", re.MULTILINE)
_HEAD = re.compile(r"^sysbench (?P<version>\S+) \(using (?P<lua>.+)\)$", re.MULTILINE)
_THREADS = re.compile(r"^Number of threads: (?P<threads>\d+)$", re.MULTILINE)


def parse(text: str) -> Figures:
    """Of a whole output; ParseError says why it has none."""
    if failure := fatal(text):
        raise ParseError(f"sysbench failed: {failure}")
    found = report(text)
    return Figures(metrics=_metrics(found, text), facts=facts(text), qps=series(text))


def fatal(text: str) -> str | None:
    """The first one: what follows it is often its consequence. The statistics behind it are no result."""
    return next((match["said"].strip() for match in _FATAL.finditer(text) if match["said"]), None)


def facts(text: str) -> dict[str, str]:
    head, threads = _HEAD.search(text), _THREADS.search(text)
    return {
        **({"sysbench": head["version"], "lua": head["lua"]} if head else {}),
        **({"threads": threads["threads"]} if threads else {}),
    }


def _metrics(found: Report, text: str) -> dict[str, float]:
    rated = found.rated
    optional = {
        "qps": rated["queries"].per_second,
        "operations": float(rated["queries"].count),
        "seconds": found.seconds,
        **_rates(found),
        **{f"{name}_us": found.latency.get(name) for name in ("avg", "max")},
    }
    known = {name: value for name, value in optional.items() if value is not None}
    latencies = {name: known[name] * MICROSECONDS for name in ("avg_us", "max_us") if name in known}
    return {**known, **latencies, **_percentiles(found), **histogram.figures(histogram.buckets(text))}


def _rates(found: Report) -> dict[str, float | None]:
    transactions, reads = found.rated.get("transactions"), found.queries.get("read")
    return {
        "transactions_per_s": transactions.per_second if transactions else None,
        **{
            name: float(found.rated[line].count) if line in found.rated else None
            for name, line in (("ignored_errors", "ignored errors"), ("reconnects", "reconnects"))
        },
        "read_queries": None if reads is None else float(reads),
        "write_queries": float(found.queries["write"]) if "write" in found.queries else None,
    }


def _percentiles(found: Report) -> dict[str, float]:
    """As printed, under the name of its percentage; of 0 sysbench prints it as disabled."""
    names = {percent: f"p{percent:g}_us".replace(".", "_") for percent in found.percentiles}
    return {names[percent]: value * MICROSECONDS for percent, value in found.percentiles.items()}
