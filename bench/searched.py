"""Error rates of verdicts on searched rates: `.venv/bin/python bench/searched.py [--tables 400] [--seed 1]`.

Each load searches from 10 to 100,000 as the runner does. Its limit deviates by `spread` from that of its arm; a try
holds by chance near the limit, half of the time at it. *certain*: tables with a verdict among arms that are equal, or
2 % apart, which is the smallest effect; *held alone*: the same without the brackets; *found*: arms of twice the rate.
Ends with exit status 1 where more than 5 % of the tables of equal arms have one (and two standard errors).
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stepgrid.expand.search import Trial, next_boundary
from stepgrid.model.plan import SMALLEST_EFFECT
from stepgrid.summarize.comparisons.comparison import ComparedMetric, RatioIntervals
from stepgrid.summarize.comparisons.judgement import verdict_of
from stepgrid.summarize.data.points import AxisAnswers, Point, SearchedAxis
from stepgrid.summarize.statistics.verdicts import BETTER, WORSE
from tests.summarize import made

LEAST, MOST = 10, 100_000
AXIS = SearchedAxis("put", "rate", "rate", "max rate where p99_us < 5000", LEAST, MOST)
METRIC = ComparedMetric(AXIS.metric, "1")
ROWS = [
    *product((0.0, 0.02, 0.1), (0.0,), (10,), (2, 3, 5), (1,)),
    *product((0.02, 0.1), (0.05,), (10,), (3, 5), (1,)),
    *product((0.0, 0.05, 0.1), (0.0,), (6,), (2, 3), (1,)),
    *product((0.02, 0.1), (0.05,), (10,), (3,), (4,)),
]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="How often a verdict on searched rates is wrong.")
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    limit = 0.05 + 2 * math.sqrt(0.05 * 0.95 / given.tables)
    print("| spread, doubt | points | loads, arms | on one value | certain | held alone | 2 % apart | 2 x found |")
    print("|---|---|---|---|---|---|---|---|")
    is_good = True
    for spread, doubt, points, loads, arms in ROWS:
        dice = random.Random(given.seed)
        tables = [_Table(dice, spread, doubt, points, loads, arms) for _ in range(given.tables)]
        alone, certain = (_share(table.is_certain(1.0, has_bracket) for table in tables) for has_bracket in (0, 1))
        one = _share(table.is_on_one_value for table in tables)
        apart = _share(table.is_certain(1.02, True) for table in tables)
        found = _share(word == BETTER for table in tables for word in table.words(2.0, True))
        is_good &= certain <= limit and apart <= limit
        shares = " | ".join(f"{100 * share:.1f}" for share in (one, certain, alone, apart, found))
        print(f"| {spread:.0%}, {doubt:.0%} | {points} | {loads}, {arms} | {shares} |", flush=True)
    return 0 if is_good else 1


def _share(values: Iterator[bool]) -> float:
    listed = [*values]
    return sum(listed) / len(listed)


class _Table:
    """A base and its arms; each has its own loads."""

    def __init__(self, dice: random.Random, spread: float, doubt: float, points: int, loads: int, arms: int) -> None:
        self.dice, self.spread, self.doubt, self.points, self.loads = dice, spread, doubt, points, loads
        self.limit = 10 ** dice.uniform(2, 4)
        self.base, self.arms = self._point("base", 1.0), range(arms)
        self.is_on_one_value = len({*self.base.means(METRIC.name)}) == 1

    def _point(self, cell: str, factor: float) -> Point:
        runs = {(load, 0): [*self._search(cell, load, factor)] for load in range(self.loads)}
        return Point("put", {"arm": cell}, tuple(AxisAnswers(AXIS, {"arm": cell}, runs).runs()))

    def _search(self, cell: str, load: int, factor: float) -> Iterator[made.Run]:
        limit, trials = factor * self.limit * math.exp(self.dice.gauss(0, self.spread)), ()
        for _ in range(self.points):
            value = _next(tuple(sorted(trials)))
            holds = value <= limit * math.exp(self.dice.gauss(0, self.doubt))
            trials += ((value, holds),)
            yield made.run(cell, load, 1.0, tried_value=float(value), tried_holds=float(holds))

    def words(self, factor: float, has_bracket: bool) -> Iterator[str]:
        arms = [self._point(str(number), factor) for number in self.arms]
        sides = [point if has_bracket else _without(point) for point in (self.base, *arms)]
        ratios = RatioIntervals([[(arm, sides[0]) for arm in sides[1:]]])
        for arm in sides[1:]:
            pair = ratios.pair(METRIC.name, arm, sides[0])
            yield verdict_of(pair.interval, SMALLEST_EFFECT, METRIC)

    def is_certain(self, factor: float, has_bracket: bool) -> bool:
        return any(word in (BETTER, WORSE) for word in self.words(factor, has_bracket))


def _without(point: Point) -> Point:
    return made.point(
        *(made.run(run.cell, run.load, 1.0, **{METRIC.name: run.metrics[METRIC.name]}) for run in point.runs)
    )


@cache
def _next(trials: tuple[tuple[int, bool], ...]) -> int:
    return next_boundary(LEAST, MOST, [Trial(value, holds, value) for value, holds in trials])


if __name__ == "__main__":
    sys.exit(main())
