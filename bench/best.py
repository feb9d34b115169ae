"""How often the best of many is missed, and what a race for it costs: grids of arms whose best is known.

`.venv/bin/python bench/best.py [--grids 400]`: an hour on one core; docs/concepts/best.md has its tables.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from bench.verdicts_rows import KINDS, Array, Generator  # noqa: E402  # the checkout's own
from stepgrid.model.plan import ALPHA, AdaptiveRepeat  # noqa: E402
from stepgrid_investigate.best.race import look  # noqa: E402
from stepgrid_investigate.best.ranking import Ranking, Standing, rank_arms  # noqa: E402

SEED, EFFECT, NOISE, REPEAT = 20265, 0.02, 0.01, AdaptiveRepeat(1, 8, is_race=True)
USUAL = 5  # loads of each arm, without a race
BEST = "0"  # the first arm; of equal ones all are
Counts = NDArray[np.intp]
Truth = Callable[[int, Generator], Array]


def _spread(width: float, alike: int = 1) -> Truth:
    """Draw logarithms between 0 and a width below it, some arms at 0."""
    return lambda arms, chance: -width * np.sort(np.concatenate([np.zeros(alike), chance.random(arms - alike)]))


TRUTHS: Mapping[str, Truth] = {
    "equal": lambda arms, chance: np.zeros(arms),
    "within a factor of 2": _spread(0.69),
    "within a factor of 4": _spread(1.39),
    "8 alike, rest within 2": _spread(0.69, alike=8),
    "within 10 %": _spread(0.1),
}


class Grid(NamedTuple):
    kind: str
    truth: str
    arms: int
    host: float = 0.0  # how far the host's speed differs between rounds, beside what the loads of one number share


class End(NamedTuple):
    """Of a grid: what was said, and the loads that it took."""

    is_kept: bool  # the best may be the best
    none_worse: bool
    is_covered: bool  # all intervals of two loads or more hold the truth
    is_settled: bool
    candidates: int
    loads: int
    rounds: int


def ends(grid: Grid, grids: int, race: bool) -> Iterator[End]:
    chance = np.random.default_rng(SEED)
    for _ in range(grids):
        truth = TRUTHS[grid.truth](grid.arms, chance)
        loads = REPEAT.most if race else USUAL
        noise = KINDS[grid.kind](chance, grid.arms - 1, loads)[0] * NOISE
        noise = (np.nanmean(noise, axis=2) if noise.ndim == 3 else noise)[chance.permutation(grid.arms)]
        host = chance.normal(size=(100, loads)) * grid.host
        yield (_race if race else _measure_all)(truth, truth[:, None] + noise, host)


def _measure_all(truth: Array, logs: Array, host: Array) -> End:
    counts = np.full(len(logs), logs.shape[1])
    return _end(truth, rank_arms(_figures(logs, counts), EFFECT, ALPHA), counts, 1)


def _race(truth: Array, logs: Array, host: Array) -> End:
    counts, rounds, logs = np.ones(len(logs), np.intp), 1, logs + host[0]
    while True:
        planned = {str(arm): count for arm, count in enumerate(counts.tolist())}
        state = look(_figures(logs, counts), planned, REPEAT, EFFECT)
        if not state.wanted:
            return _end(truth, state.ranking, counts, rounds)
        for name, count in state.wanted.items():
            later = slice(counts[int(name)], count)
            logs[int(name), later] += host[rounds, later] - host[0, later]
            counts[int(name)] = count
        rounds += 1


def _figures(logs: Array, counts: Counts) -> Mapping[str, Mapping[int, float]]:
    rows = zip(np.exp(logs).tolist(), counts.tolist(), strict=True)
    return {
        str(arm): {load: value for load, value in enumerate(row[:count]) if value == value}
        for arm, (row, count) in enumerate(rows)
    }


def _end(truth: Array, ranking: Ranking, counts: Counts, rounds: int) -> End:
    candidates = {arm.arm for arm in ranking.candidates}
    best = max(truth[int(arm.arm)] for arm in ranking.arms)  # of those that have a figure
    judged = [(arm, float(np.exp(truth[int(arm.arm)] - best))) for arm in ranking.arms if arm.loads > 1]
    return End(
        BEST in candidates or all(arm.arm != BEST for arm in ranking.arms),
        len(candidates) == len(ranking.arms),
        all(arm.low <= ratio * 1.000001 and ratio <= arm.high * 1.000001 for arm, ratio in judged),
        not ranking.of(Standing.OPEN),
        len(candidates),
        int(counts.sum()),
        rounds,
    )


def row(grid: Grid, grids: int, race: bool) -> str:
    kept, none_worse, covered, settled, candidates, loads, rounds = np.mean(list(ends(grid, grids, race)), axis=0)
    share = loads / (USUAL * grid.arms)
    words = f"none worse {none_worse:.1%}" if grid.truth == "equal" else f"best kept {kept:.1%}"
    cost = f", settled {settled:.0%}, {loads:.0f} loads, {share:.2f} of {USUAL} each, {rounds:.1f} rounds"
    name = f"{grid.kind}{f', host {grid.host:.0%}' if grid.host else ''}, {grid.truth}, {grid.arms} arms"
    return f"{name:64} {words}, covered {covered:.1%}, {candidates:.1f} may be the best{cost if race else ''}"


def rows(grids: int) -> Iterator[str]:
    yield f"{USUAL} loads of each"
    for kind, truth, arms in product(KINDS, ("equal", "within a factor of 2"), (2, 16, 64)):
        yield row(Grid(kind, truth, arms), grids, race=False)
    yield "race"
    for kind, truth, arms in product(KINDS, TRUTHS, (16, 64)):
        if arms == 64 or truth in ("equal", "within a factor of 2"):
            yield row(Grid(kind, truth, arms), grids, race=True)
    for truth in TRUTHS:
        yield row(Grid("normal", truth, 64, 0.03), grids, race=True)
    for kind, truth in product(
        ("normal", "arms differ in noise", "base 10 x noisier"), ("equal", "within a factor of 2")
    ):
        yield row(Grid(kind, truth, 729), grids // 10, race=True)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How often the best of many is missed, and what a race for it costs.")
    parser.add_argument("--grids", type=int, default=400)
    warnings.simplefilter("ignore", RuntimeWarning)  # means of loads without a run
    for line in rows(parser.parse_args(given).grids):
        print(line, flush=True)


if __name__ == "__main__":
    main()
