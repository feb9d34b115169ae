"""Rates that clients keep: the schedule of their operations over time.

A schedule is one text for clients in Lua, Python and Rust: `0:1000,300:20000` rises from 1,000 to 20,000 operations per
second within 300 s. The rate changes evenly between points, two points of one second are a step, the last one holds.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

FILE = "schedule.txt"
GRACE, SHORTEST_GRACE = 0.05, 2  # of a duration, and seconds: for operations that are late
SINE_PIECES = 64  # of a period: within 0.12 % of a half of what it swings by
MOST_POINTS, MOST_RATE = 100_000, 1e15  # of a schedule
SHAPES: Mapping[str, str] = {"ramp": "over", "sine": "period", "steps": "hold", "trace": ""}

Point: TypeAlias = tuple[float, float]  # second, operations per second


def has_rate(settings: Mapping[str, Any]) -> bool:
    return settings.get("rate") is not None


def targets(settings: Mapping[str, Any]) -> Mapping[str, float]:
    return {"target_qps": float(settings["rate"])} if isinstance(settings.get("rate"), int | float) else {}


def grace(duration: float) -> int:
    return max(SHORTEST_GRACE, math.ceil(GRACE * duration))


def files(settings: Mapping[str, Any], read_file: Callable[[str], str]) -> Mapping[str, str]:
    """Give a rate that changes as a file: a trace is part of a step's identity by its content.

    A number is not in a file: a search chooses it when the step runs.
    """
    if not isinstance(settings.get("rate"), Mapping):
        return {}
    return {FILE: text(points(settings["rate"], settings["duration"], read_file))}


def points(rate: int | Mapping[str, Any], duration: float, read_file: Callable[[str], str]) -> Sequence[Point]:
    if not isinstance(rate, Mapping):
        return [(0.0, float(rate))]
    if rate["ramp"]:
        first, last = rate["ramp"]
        return [(0.0, float(first)), (rate["over"], float(last))]
    if rate["trace"]:
        return steps(read_trace(read_file(rate["trace"])))
    needed = math.ceil(duration / rate["hold"] if rate["steps"] else SINE_PIECES * duration / rate["period"])
    if needed > MOST_POINTS:
        cause = SHAPES["steps" if rate["steps"] else "sine"]
        raise ValueError(f"`rate` has {needed:,} points, more than {MOST_POINTS:,}: its `{cause}` is too short")
    if rate["steps"]:
        return steps([(at * rate["hold"], value) for at, value in _in_turn(rate["steps"], needed)])
    low, high = rate["sine"]
    angles = [(at / SINE_PIECES * rate["period"], 2 * math.pi * at / SINE_PIECES) for at in range(needed + 1)]
    return [(second, low + (high - low) * (1 - math.cos(angle)) / 2) for second, angle in angles]


def steps(rates: Sequence[Point]) -> list[Point]:
    """Make points of rates that hold until the next one; the first holds from the start."""
    ends = [(second, rate) for (_, rate), (second, _) in pairwise(rates)]
    middle = [point for end, start in zip(ends, rates[1:], strict=True) for point in (end, start)]
    return [(0.0, rates[0][1]), *middle]


def _in_turn(rates: Sequence[float], count: int) -> Iterator[Point]:
    for at in range(max(1, count)):
        yield at, float(rates[at % len(rates)])


_ROW = re.compile(r"\s*(\d+(?:\.\d+)?)\s*,\s*(\d+(?:\.\d+)?)\s*")
_HEADER = re.compile(r"\s*+(?!(?:nan|inf)\b)[a-z_][^,]*+,\s*+[a-z_]", re.IGNORECASE)


def read_trace(content: str) -> list[Point]:
    """Read lines of `second,rate`; a first line of other words is a header, empty lines are skipped."""
    rates: list[Point] = []
    for number, line in enumerate(content.splitlines(), 1):
        row = _ROW.fullmatch(line)
        if row is None and line.strip() and (number > 1 or not _HEADER.match(line)):
            raise ValueError(f"line {number} of the trace is not `second,rate`: {line[:40]}")
        if row is None:
            continue
        second, rate = float(row[1]), float(row[2])
        if rates and second <= rates[-1][0]:
            raise ValueError(f"line {number} of the trace: second {second:g} is not after {rates[-1][0]:g}")
        if max(second, rate) > MOST_RATE:
            raise ValueError(f"line {number} of the trace: {max(second, rate):g} is more than {MOST_RATE:g}")
        rates.append((second, rate))
    if not rates or len(rates) > MOST_POINTS or not any(rate for _, rate in rates):
        raise ValueError(f"a trace has 1 to {MOST_POINTS:,} lines of `second,rate`, and a rate above 0")
    return rates


def text(schedule: Sequence[Point]) -> str:
    return ",".join(f"{_decimal(second)}:{_decimal(rate)}" for second, rate in schedule)


def _decimal(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def parse_text(content: str) -> list[Point]:
    pairs = (part.partition(":") for part in content.strip().split(","))
    return [(float(second or 0), float(rate)) if colon else (0.0, float(second)) for second, colon, rate in pairs]


def rates_by_second(schedule: Sequence[Point], length: float) -> list[Point]:
    """Give the mean rate of each second that a schedule asks for, by the second's end."""
    seconds, totals = range(1, math.ceil(length) + 1), [0.0]
    ends = list(pairwise((*schedule, (math.inf, schedule[-1][1]))))
    at, before = 0, 0.0
    for second in seconds:
        while second >= ends[at][1][0]:
            before += _area(ends[at], ends[at][1][0])
            at += 1
        totals.append(before + _area(ends[at], second))
    return [(float(second), totals[second] - totals[second - 1]) for second in seconds]


def _area(piece: tuple[Point, Point], second: float) -> float:
    """Count the operations of a piece up to a second within it."""
    (start, first), (end, last) = piece
    slope = (last - first) / (end - start) if end > start else 0.0
    return (second - start) * (first + slope * (second - start) / 2)


def moments(schedule: Sequence[Point], arrivals: str | None, seed: int) -> Iterator[float]:
    """Yield the seconds at which operations are to begin; they end where the last rate is 0."""
    draw, count, before = random.Random(seed), 0.0, 0.0
    ends = pairwise((*schedule, (math.inf, schedule[-1][1])))
    (start, first), (end, last) = next(ends)
    is_first = True
    while True:
        count += draw.expovariate(1.0) if arrivals == "poisson" else 0.0 if is_first else 1.0
        is_first = False
        while count >= before + (area := (end - start) * (first + last) / 2 if end > start else 0.0):
            before += area
            (start, first), (end, last) = next(ends)
        slope, excess = (last - first) / (end - start), count - before
        root = math.sqrt(max(0.0, first * first + 2 * slope * excess))
        if excess and not first + root:
            return
        yield start + (2 * excess / (first + root) if excess else 0.0)
