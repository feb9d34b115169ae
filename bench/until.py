"""What `repeat: {until: …}` costs and how often it is wrong: reports of eight steps get loads until every comparison is
decided or given up, by the report's own intervals and stopping rule. A load of an arm runs all of its steps.

`.venv/bin/python bench/until.py [--tables 4800] [--levels]`: some minutes on one core. `--levels`: the error that each
of so many looks may spend (`stepgrid/model/adaptive_repeat.py`)."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from bench.verdicts_rows import EFFECT, KINDS, STEPS, Array  # noqa: E402  # the checkout's own
from stepgrid.model.plan import ALPHA, AdaptiveRepeat  # noqa: E402
from stepgrid.summarize.statistics.confidence_intervals import Interval, LogRatios, table_intervals  # noqa: E402
from stepgrid.summarize.statistics.verdicts import HOPELESS, StoppingRule, chance_of_decision, is_decided  # noqa: E402

SEED, LEAST, MOST = 20263, 3, 12
REPEAT = AdaptiveRepeat(LEAST, MOST)
SIMULATED, LONGEST = 400_000, 100
PERCENT = (0, 1, 2, 5, 20)
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.intp]]


class Sweep(NamedTuple):
    kind: str
    noise: float
    percent: float  # by which all arms are faster than the base
    arms: int
    rule: StoppingRule = StoppingRule(math.expm1(EFFECT))
    fixed: bool = False  # MOST loads of everything


class Row(NamedTuple):
    loads: float  # of an arm
    runs: float  # of a table, of those that MOST loads of base and arms take
    different: float  # tables
    wrong: float  # tables with an interval that misses the truth
    same: float  # comparisons, from here on
    found: float
    given_up: float

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in zip(NAMES, self[1:], strict=True))
        return f"{self.loads:.1f} loads, {shares}"


NAMES = ("of the runs", "tables different", "tables not covered", "same", "different", "undecided")


def row(sweep: Sweep, tables: int) -> Row:
    draws = np.random.default_rng(SEED)
    made = (KINDS[sweep.kind](draws, sweep.arms, MOST) * sweep.noise for _ in range(tables // STEPS))
    found = [_decided(sweep, figures) for figures in made]
    loads = np.concatenate([each for each, _ in found])
    ends = np.concatenate([each for _, each in found])
    low, high, truth = ends[..., 0], ends[..., 1], math.log1p(sweep.percent / 100)
    beyond = (low > EFFECT) | (high < -EFFECT)
    same = (low >= -EFFECT) & (high <= EFFECT)
    missed = ((low > truth) | (high < truth)).any(axis=1)
    runs = (loads.sum(axis=1) + loads.max(axis=1)).mean() / (MOST * (sweep.arms + 1))
    shares = (beyond.any(axis=1), missed, same, beyond, ~(same | beyond))
    return Row(float(loads.mean()), float(runs), *(float(each.mean()) for each in shares))


def _decided(sweep: Sweep, figures: Array) -> tuple[Numbers, Array]:
    """Of each table and arm: the loads that it got, and its last interval, as logarithms."""
    figures = figures + math.log1p(sweep.percent / 100) * (np.arange(sweep.arms + 1) > 0)[:, None]
    loads = np.full((STEPS, sweep.arms), MOST if sweep.fixed else LEAST)
    alpha = ALPHA if sweep.fixed else REPEAT.level
    while True:
        intervals = table_intervals([list(_samples(*table)) for table in zip(figures, loads, strict=True)], alpha)
        wanted = np.array([[_wanted(each, sweep.rule) for each in table] for table in intervals])
        wanted = np.broadcast_to(wanted.max(axis=0), wanted.shape)  # a load of an arm runs all of its steps
        if (wanted == loads).all():
            return loads, np.array([[(math.log(e.low), math.log(e.high)) for e in table if e] for table in intervals])
        loads = wanted


def _wanted(interval: Interval | None, rule: StoppingRule) -> int:
    assert interval is not None
    following = REPEAT.next_look(interval.loads)
    if following is None or is_decided(interval, rule) or chance_of_decision(interval, MOST, rule) < HOPELESS:
        return interval.loads
    return following


def _samples(figures: Array, loads: Numbers) -> Iterator[LogRatios]:
    for arm, count in zip(figures[1:], loads.tolist(), strict=True):
        yield LogRatios(tuple((arm - figures[0])[:count].tolist()), "base", tuple(range(count)))


def rows(tables: int) -> Iterator[str]:
    for noise, percent, arms in product((0.01, 0.03), PERCENT, (1, 4)):
        yield _told(Sweep("normal", noise, percent, arms), tables)
    for kind, percent, arms in product(KINDS, (0, 2), (1, 4)):
        if kind not in ("normal", "one load in six missing", "runs, some missing"):
            yield _told(Sweep(kind, 0.01, percent, arms), tables)
    for noise, arms in product((0.01, 0.03), (1, 4)):
        yield _told(Sweep("normal", noise, 0, arms, StoppingRule(math.expm1(EFFECT), 0.02)), tables)


def _told(sweep: Sweep, tables: int) -> str:
    width = "" if sweep.rule.width is None else f", until {sweep.rule.width:.0%}"
    what = f"{sweep.kind}, {sweep.noise:.0%}, +{sweep.percent} %, {sweep.arms} arms{width}"
    return f"{what:52} {row(sweep, tables)}"


def levels() -> Iterator[str]:
    """The share of courses that leave a bound at any look is 5 %: where the bound must be."""
    draws, looks = np.random.default_rng(SEED), AdaptiveRepeat(2, LONGEST).looks
    total, farthest, before = np.zeros(SIMULATED), np.zeros(SIMULATED), 0
    for count, load in enumerate(looks, 1):
        total += draws.normal(size=SIMULATED) * math.sqrt(load - before)
        before = load
        np.maximum(farthest, np.abs(total) / math.sqrt(load), out=farthest)
        bound = float(np.quantile(farthest, 1 - ALPHA))
        yield f"{count:2} looks, the last after {load:3} loads: {math.erfc(bound / math.sqrt(2)):.4f}"


def lines(asked: argparse.Namespace) -> Iterator[str]:
    yield from levels() if asked.levels else rows(asked.tables)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What loads until it is sure cost, and how often they are wrong.")
    parser.add_argument("--tables", type=int, default=4800)
    parser.add_argument("--levels", action="store_true")
    for line in lines(parser.parse_args(given)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
