"""Figures: what the output of one step says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat
from operator import itemgetter
from typing import NamedTuple, TypeAlias

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
    for each in histograms:
        yield from zip(repeat(each.operation), each.least, each.most, each.operations)


def by_column(buckets: Iterable[Bucket]) -> list[Buckets]:
    """Those of one operation stand together."""
    parts = ((name, zip(*part, strict=True)) for name, part in groupby(buckets, itemgetter(0)))
    return [Buckets(name, least, most, operations) for name, (_, least, most, operations) in parts]


@dataclass(frozen=True, slots=True)
class Figures:
    """What one step's output says. A figure that the output lacks is not in `metrics`: missing is missing, never 0."""

    metrics: Mapping[str, float]  # by name of plugins.metrics.METRICS; of a `command`, by the spec's own names
    facts: Mapping[str, str] = field(default_factory=dict)  # text: version as printed, compression …
    qps: Sequence[tuple[float, float]] = ()  # (seconds since start, operations per second) at intervals
    warnings: Sequence[str] = ()  # what the engine says about itself
    counters: Mapping[str, float] = field(default_factory=dict)  # the engine's own, by its names, at the step's end
    levels: Sequence[Mapping[str, float | str]] = ()  # the compaction table, by columns of collect.levels.LEVELS
    histograms: Sequence[Buckets] = ()  # whole; none is empty
    window: tuple[float, float] | None = None  # seconds since the command's start; None = all of it was measured
    latencies: Sequence[Mapping[str, float | str]] = ()  # mean, deviation and percentiles by operation, as printed
    file_reads: Sequence[Mapping[str, float | str]] = ()  # the same of the engine's reads of files, by level
    rates: Sequence[ClientRate] = ()  # of clients that report one by one; `qps` is the rate of all together


_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def decimal(text: str) -> float:
    """A decimal number in ASCII; NaN for all else. Python's float takes `1_000` and the digits of every script."""
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


class ParseError(StepgridError):
    """The output of a step that ended well does not hold what it must: says which file and what was looked for."""


def check_rates(figures: Figures) -> None:
    """Refuse rates of operations that cannot be; a rate of 0 is a figure."""
    rate = figures.metrics.get("qps", 0.0)
    if not 0 <= rate < math.inf:
        raise ParseError(f"metric `qps`: {rate:g} operations per second; a rate is 0 or more")
    if point := next(((second, rate) for second, rate in figures.qps if rate < 0), None):
        raise ParseError(f"series: {point[1]:g} operations per second at {point[0]:g} s; a rate is 0 or more")


@dataclass(frozen=True, slots=True)
class PrintedStep:
    """One step of a log that people already have."""

    name: str  # as the log has it: a benchmark, a script
    figures: Figures


class ClientRate(NamedTuple):
    """What one client did in the interval up to a second since the step's start; no row for what it does not do."""

    client: int
    second: float
    operation: str  # insert, delete, query …, "" for all
    per_second: float  # rows of an insert or a delete, else operations
    longest_us: float | None = None  # of the statements in the interval; None: not known
