"""Figures: what the output of one step says, and what its server said before it.

Classes of latencies and the rule for a rate that was asked for are those of the insert benchmark's published reports.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, repeat
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from stepgrid.errors import StepgridError


class Buckets(NamedTuple):
    """A histogram of latencies, by column, as a collect reads a million of its rows.

    So many operations took longer than `least` microseconds, and at most `most`.
    """

    operation: str  # read, write …, "" for all
    least: Sequence[float]
    most: Sequence[float]
    operations: Sequence[int]


Bucket: TypeAlias = tuple[str, float, float, int]
BUCKET = Buckets._fields


def rows(histograms: Iterable[Buckets]) -> Iterator[Bucket]:
    for histogram in histograms:
        yield from zip(repeat(histogram.operation), histogram.least, histogram.most, histogram.operations)


def by_column(buckets: Iterable[Bucket]) -> list[Buckets]:
    """Turn rows into histograms; rows of one operation follow each other."""
    parts = ((name, zip(*part, strict=True)) for name, part in groupby(buckets, itemgetter(0)))
    return [Buckets(name, least, most, operations) for name, (_, least, most, operations) in parts]


ASKED = "asked"  # in place of an operation: the rate that all clients together were asked for


class ClientRate(NamedTuple):
    """Work of one client in the interval up to a second since the step's start; no row for what it does not do."""

    client: int
    second: float
    operation: str  # insert, delete, query …, "" for all
    per_second: float  # rows of an insert or a delete, else operations
    longest_us: float | None = None  # of the statements in the interval; None: not known


class Figures(Struct, frozen=True):
    """Figures of one step's output. A figure that it lacks is not in `metrics`: missing is missing, never 0."""

    metrics: Mapping[str, float]  # by name of plugins.metrics.METRICS; of a `command`, by the spec's own names
    facts: Mapping[str, str] = {}  # text: version as printed, compression …
    qps: Sequence[tuple[float, float]] = ()  # (seconds since start, operations per second) at intervals
    warnings: Sequence[str] = ()  # what the engine says about itself
    counters: Mapping[str, float] = {}  # the engine's own, by its names, at the step's end
    levels: Sequence[Mapping[str, float | str]] = ()  # the compaction table, by columns of result_schema.LEVELS
    histograms: Sequence[Buckets] = ()  # complete; none is empty
    window: tuple[float, float] | None = None  # seconds since the command's start; None = all of it was measured
    latencies: Sequence[Mapping[str, float | str]] = ()  # mean, deviation and percentiles by operation, as printed
    file_reads: Sequence[Mapping[str, float | str]] = ()  # the same of the engine's reads of files, by level
    p99: Sequence[tuple[float, float]] = ()  # (seconds since start, microseconds): latency of the same intervals
    rates: Sequence[ClientRate] = ()  # of clients that report one by one; `qps` is the rate of all together
    debts: Mapping[str, Sequence[tuple[float, float]]] = {}  # (seconds since start, amount) of what the engine puts off


class PrintedStep(Struct, frozen=True):
    """A step of a log that people already have."""

    name: str  # as the log has it: a benchmark, a script
    figures: Figures


NO_FIGURE = " has no figure: "  # in a warning that the output lacks a declared metric, between its name and why


class ParseError(StepgridError):
    """The output of a step that ended well lacks a figure: says which file and what was looked for."""


_DECIMAL = re.compile(r"\s*+[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?\s*+", re.ASCII)


def decimal(text: str) -> float:
    """Read a decimal number in ASCII; NaN for all else. Python's float takes `1_000` and the digits of every script."""
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


def check_rates(figures: Figures) -> None:
    """Refuse rates of operations that cannot be; a rate of 0 is a figure."""
    rate = figures.metrics.get("qps", 0.0)
    if not 0 <= rate < math.inf:
        raise ParseError(f"metric `qps`: {rate:g} operations per second; a rate is 0 or more")
    if point := next(((second, rate) for second, rate in figures.qps if rate < 0), None):
        raise ParseError(f"series: {point[1]:g} operations per second at {point[0]:g} s; a rate is 0 or more")


# Classes of latencies and rates that were asked for.

LATENCY_LIMITS: Mapping[str, float] = {  # of each class, in microseconds
    "256us": 256, "1ms": 1e3, "4ms": 4e3, "16ms": 16e3, "64ms": 64e3, "256ms": 256e3, "1s": 1e6, "4s": 4e6,
    "16s": 16e6, "gt": math.inf,
}  # fmt: skip
LATENCY_CLASSES = tuple(LATENCY_LIMITS)

FAILED_RATE = "failed rate"  # the kind of a table's cell whose step did not sustain its rate


def is_sustained(rate: float, target: float) -> bool:
    """Compare with 95 % of the target, both rounded as published: 950 of 1000 sustains, 949.4 does not."""
    return round(rate) >= round(0.95 * target)


# Names of what is kept of the state before a step, as its server or the engine's files said it.

DATA_BYTES, INDEX_BYTES = "data_bytes", "index_bytes"  # sizes, by the metrics that they are
DEAD_ROWS, HISTORY_LENGTH = "dead_rows", "history_list_length"  # what is yet to be cleaned up, likewise
CACHED_BYTES, CACHE_BYTES = "cached_bytes", "cache_bytes"  # what the server's own cache holds, and may hold
VACUUMS, TABLES_TO_VACUUM = "vacuums", "tables_to_vacuum"  # at work, and due
START_FIGURES = (
    DATA_BYTES, INDEX_BYTES, DEAD_ROWS, HISTORY_LENGTH, CACHED_BYTES, CACHE_BYTES, VACUUMS, TABLES_TO_VACUUM,
)  # fmt: skip
LIVE_ROWS = "rows"  # of all tables
TABLE_ROWS = "rows by table"
TREE_LEVELS = "levels"  # of an LSM tree: level -> files and bytes, of all column families
