"""How well `stepgrid plan --budget` foretells the widths of intervals: made-up pilots, and what more loads came to.

`.venv/bin/python bench/budget.py [--reports 400]`: a minute on one core. Reports of eight steps and four arms; a pilot
of few loads and runs, then the same with more."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from bench.verdicts_made import _run  # noqa: E402  # the checkout's own
from stepgrid.summarize.budget import WidthForecast, forecast  # noqa: E402
from stepgrid.summarize.data.points import Point  # noqa: E402
from stepgrid.summarize.statistics.confidence_intervals import Interval, Sample, table_intervals  # noqa: E402
from stepgrid.summarize.statistics.time_series import Relative  # noqa: E402

SEED, STEPS, ARMS, NOISE, BATCHES = 20265, 8, 4, 0.01, 9
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class Design(NamedTuple):
    loads: int
    runs: int
    longer: float = 1.0


class Kind(NamedTuple):
    """Standard deviations of a figure, in units of the noise: between loads, between runs, within a run's seconds."""

    loads: float
    runs: float
    series: float
    steps: float = 0.0  # by which factor e^± steps differ in noise


KINDS = {
    "loads alone": Kind(1, 0, 0),
    "loads and runs": Kind(0.7, 0.7, 0),
    "loads, runs, seconds": Kind(0.6, 0.6, 0.5),
    "steps differ in noise": Kind(0.6, 0.6, 0.5, 0.7),
}
DESIGNS = (
    (Design(3, 1), Design(6, 1)),
    (Design(3, 1), Design(12, 1)),
    (Design(3, 2), Design(5, 4)),
    (Design(5, 2), Design(10, 1, 2.0)),
    (Design(5, 2), Design(10, 3, 0.5)),
)


class Row(NamedTuple):
    ratio: float  # foretold to came, the middle one
    near: float  # share of reports whose typical width came within a third of what was foretold

    def __str__(self) -> str:
        return f"foretold / came {self.ratio:.2f}, within a third {self.near:.1%}"


def row(kind: Kind, pilot: Design, wanted: Design, reports: int) -> Row:
    chance = np.random.default_rng(SEED)
    ratios = [_ratio(chance, kind, pilot, wanted) for _ in range(reports)]
    return Row(median(ratios), sum(2 / 3 <= 1 / each <= 4 / 3 for each in ratios) / reports)


def _ratio(chance: np.random.Generator, kind: Kind, pilot: Design, wanted: Design) -> float:
    """The loads of the pilot are the first of all loads, as they are in a store."""
    noise = np.exp(kind.steps * chance.normal(size=(STEPS, 1, 1))) * NOISE
    loads = chance.normal(size=(STEPS, ARMS + 1, wanted.loads)) * noise * kind.loads
    first = _figures(chance, kind, loads[..., : pilot.loads], pilot, noise)
    known = _intervals(first.mean(axis=-1))
    foretold = [
        each.width(*wanted)
        for step, intervals, alone in zip(first, known, noise.ravel().tolist(), strict=True)
        for each in _forecasts(chance, step, intervals, kind.series * alone)
    ]
    later = _intervals(_figures(chance, kind, loads, wanted, noise).mean(axis=-1))
    return median(foretold) / median(each.high / each.ratio - 1 for table in later for each in table)


def _figures(chance: np.random.Generator, kind: Kind, loads: Array, design: Design, noise: Array) -> Array:
    """Logarithms by step, arm, load and run."""
    own = math.hypot(kind.runs, kind.series / math.sqrt(design.longer))
    figures: Array = loads[..., None] + chance.normal(size=(*loads.shape, design.runs)) * noise[..., None] * own
    return figures


def _intervals(figures: Array) -> list[list[Interval]]:
    tables = []
    for step in figures:
        ratios = step[1:] - step[0]
        tables.append([Sample(tuple(each.tolist()), "base", tuple(range(len(each)))) for each in ratios])
    return [[each for each in table if each] for table in table_intervals(tables)]


def _forecasts(
    chance: np.random.Generator, step: Array, intervals: Sequence[Interval], series: float
) -> Iterator[WidthForecast]:
    """`series`: the error of the mean of a run's seconds, which nine batches show."""
    points = [_point(f"arm{number}", arm) for number, arm in enumerate(step)]
    shown = series * np.sqrt(chance.chisquare(BATCHES, size=step.size) / BATCHES)
    places = [run.place for point in points for run in point.runs]
    seconds = {place: Relative(1.0, error, BATCHES) for place, error in zip(places, shown.tolist(), strict=True)}
    for point, interval in zip(points[1:], intervals, strict=True):
        yield forecast("step", interval, point, points[0], seconds)


def _point(arm: str, logs: Array) -> Point:
    rates = np.exp(logs).tolist()
    runs = (
        replace(_run(arm, load, rate, 0), run=number, place=(f"s-{arm}-{load}-{number}", 0))
        for load, each in enumerate(rates)
        for number, rate in enumerate(each)
    )
    return Point("step", {}, tuple(runs))


def rows(reports: int) -> Iterator[str]:
    for (name, kind), (pilot, wanted) in product(KINDS.items(), DESIGNS):
        yield f"{name}, {_said(pilot)} to {_said(wanted)}: {row(kind, pilot, wanted, reports)}"


def _said(design: Design) -> str:
    longer = "" if design.longer == 1 else f", {design.longer:g} times as long"
    return f"{design.loads} loads of {design.runs}{longer}"


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How well plan --budget foretells the widths of intervals.")
    parser.add_argument("--reports", type=int, default=400)
    for line in rows(parser.parse_args(given).reports):
        print(line, flush=True)


if __name__ == "__main__":
    main()
