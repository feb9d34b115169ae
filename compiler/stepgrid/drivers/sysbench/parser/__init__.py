"""What sysbench says: its figures by name, its histogram, its seconds; a FATAL is a failure with its message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stepgrid.drivers.sysbench.parser import histogram
from stepgrid.drivers.sysbench.parser.report import Report, report
from stepgrid.model.figures import Figures, ParseError

LONGEST = 300  # characters of a message
_FATAL = re.compile(r"^FATAL: (.+)$", re.MULTILINE)
_WARNING = re.compile(r"^WARNING: (.+)$", re.MULTILINE)
_ABORTING = ", aborting..."
_HEAD = re.compile(r"^sysbench (?P<version>\S+) \(using (?P<lua>.+)\)$", re.MULTILINE)
_THREADS = re.compile(r"^Number of threads: (?P<threads>\d+)$", re.MULTILINE)


def parse(text: str) -> Figures:
    """Of a whole output; ParseError says why it has none."""
    if failure := fatal(text):
        raise ParseError(f"sysbench failed: {failure}")
    found = report(text)
    warnings = [said.strip() for said in _WARNING.findall(text)]
    buckets = histogram.whole(histogram.buckets(text))
    return Figures(_metrics(found, text), facts(text), series(text), warnings, histograms=buckets)


def fatal(text: str) -> str | None:
    """The first one: what follows it is often its consequence. The statistics behind it are no result.

    Of a connection that fails, the second says why.
    """
    said = [_short(found.strip()) for found in _FATAL.findall(text)]
    if len(said) > 1 and said[0].endswith(_ABORTING):
        return f"{said[0].removesuffix(_ABORTING)}: {said[1]}"
    return said[0] if said else None


def _short(said: str) -> str:
    """It names the whole statement, which of a load has a thousand rows."""
    return said if len(said) <= LONGEST else f"{said[:LONGEST]} …"


def facts(text: str) -> dict[str, str]:
    head, threads = _HEAD.search(text), _THREADS.search(text)
    return {
        **({"sysbench": head["version"], "lua": head["lua"]} if head else {}),
        **({"threads": threads["threads"]} if threads else {}),
    }


def _metrics(found: Report, text: str) -> dict[str, float]:
    optional = {
        "qps": found.rated["queries"].per_second,
        "operations": float(found.rated["queries"].count),
        "seconds": found.seconds,
        "min_us": _microseconds(found.latency.get("min")),
        "avg_us": _microseconds(found.latency.get("avg")),
        "max_us": _microseconds(found.latency.get("max")),
        **_transactions(found),
    }
    known = {name: value for name, value in optional.items() if value is not None}
    return {**known, **_percentiles(found), **histogram.figures(histogram.buckets(text))}


def _transactions(found: Report) -> dict[str, float | None]:
    lines = {"ignored_errors": "ignored errors", "reconnects": "reconnects"}
    counts = {name: found.rated.get(line) for name, line in lines.items()}
    transactions = found.rated.get("transactions")
    queries = {f"{name}_queries": found.queries.get(name) for name in ("read", "write", "other")}
    return {
        **{name: None if count is None else float(count) for name, count in queries.items()},
        "transactions": float(transactions.count) if transactions else None,
        "transactions_per_s": transactions.per_second if transactions else None,
        **{name: float(rated.count) if rated else None for name, rated in counts.items()},
    }


def _percentiles(found: Report) -> dict[str, float]:
    """As printed, each under the name of its percentage."""
    said = found.percentiles.items()
    return {f"p{percent:g}_us".replace(".", "_"): histogram.microseconds(value) for percent, value in said}


def _microseconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else histogram.microseconds(milliseconds)


# The lines of --report-interval: one per interval, with the rate of queries in it.

_LINE = re.compile(r"^\[ (\d+)s \] thds: \d+ .*?\bqps: (\d+\.\d+) ", re.MULTILINE)


def series(text: str) -> Sequence[tuple[float, float]]:
    """(Seconds since the start, queries per second). After a warmup sysbench counts from 0 again: from there."""
    found = [(float(second), float(qps)) for second, qps in _LINE.findall(text)]
    restarts = [index for index in range(1, len(found)) if found[index][0] <= found[index - 1][0]]
    return found[restarts[-1] :] if restarts else found
