"""What a search is worth: over a recorded surface, against points by chance with the same loads.

bench/rocksdb_surface.csv has the CPU time of a readrandom of RocksDB 9.10.0 at all 240 points of four options, measured
once, for a second each, on a busy host. It is taken for the truth, and loads differ from it by chance.

`.venv/bin/python bench/best_tune.py [--seeds 40] [--first 0]`: a second of CPU time a seed.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from stepgrid.model import units  # noqa: E402
from stepgrid.model.plan import FINALISTS  # noqa: E402
from stepgrid.plugins.design import DesignRequest, Factor, Row  # noqa: E402
from stepgrid.summarize.statistics.confidence_intervals import intervals, sample  # noqa: E402
from stepgrid_investigate.best.proposals import SearchAxis, expectations, propose  # noqa: E402
from stepgrid_investigate.designs import first_tries  # noqa: E402
from stepgrid_investigate.tuning import BATCH, figure_interval  # noqa: E402

FIRST, TRIES, CONFIRM = 16, 40, 5
SURFACE = ROOT / "bench" / "rocksdb_surface.csv"


class Outcome(NamedTuple):
    truth: float  # of what was chosen, as a logarithm
    figure_covered: bool
    ratio_covered: bool
    luck: float  # of the best try, as a logarithm


def read_surface() -> tuple[list[SearchAxis], Mapping[Row, float]]:
    """Return the axes, and the logarithm of operations by CPU second at each point."""
    rows = list(csv.DictReader(SURFACE.open(encoding="utf-8")))
    labels = {name: sorted({row[name] for row in rows}, key=_amount) for name in rows[0] if name.startswith("axis_")}
    axes = [
        SearchAxis(name, len(values), all(units.number(label) is not None for label in values))
        for name, values in labels.items()
    ]
    place = [(name, {label: at for at, label in enumerate(values)}) for name, values in labels.items()]
    return axes, {tuple(at[row[n]] for n, at in place): -math.log(float(row["cpu_us_per_op"])) for row in rows}


def _amount(label: str) -> tuple[float, str]:
    return float(units.number(label) or 0), label


class Trial:
    def __init__(self, seed: int, noise: float) -> None:
        self.axes, self.truth = read_surface()
        self.seed, self.noise, self.chance = seed, noise, np.random.default_rng(seed)

    def load(self, row: Row) -> float:
        return self.truth[row] + float(self.chance.normal()) * self.noise

    def search(self) -> Outcome:
        factors = tuple(Factor(axis.name, axis.values) for axis in self.axes)
        first = first_tries(DesignRequest(factors, FIRST, self.seed, lambda row: True)).rows
        tries: dict[Row, float | None] = {row: self.load(row) for row in first}
        while len(tries) < TRIES:
            count = min(BATCH, TRIES - len(tries))
            tries |= {row: self.load(row) for row in propose(self.axes, tries, count, lambda row: True, self.seed)}
        figures = {row: value for row, value in tries.items() if value is not None}
        expected = expectations(self.axes, figures)
        ranked = sorted(figures, key=lambda row: -expected[row])
        lucky = max(figures, key=lambda row: figures[row])
        return self.confirm(list(dict.fromkeys([*ranked[: FINALISTS - 1], lucky, *ranked]))[:FINALISTS], figures)

    def by_chance(self) -> Outcome:
        points = list(product(*(range(axis.values) for axis in self.axes)))
        figures = {points[at]: self.load(points[at]) for at in self.chance.permutation(len(points))[:TRIES]}
        return self.confirm(sorted(figures, key=lambda row: -figures[row])[:FINALISTS], figures)

    def confirm(self, finalists: Sequence[Row], tries: Mapping[Row, float]) -> Outcome:
        base = tuple(0 for _ in self.axes)
        loads = {row: [self.load(row) for _ in range(CONFIRM)] for row in dict.fromkeys([*finalists, base])}
        chosen = max(finalists, key=lambda row: float(np.mean(loads[row])))
        values = {row: {at: [math.exp(log)] for at, log in enumerate(logs)} for row, logs in loads.items()}
        rivals = [row for row in loads if row != base]
        found = intervals([sample(values[row], values[base], "base") for row in rivals])
        ratio = dict(zip(rivals, found, strict=True)).get(chosen)
        low, high = figure_interval([math.exp(log) for log in loads[chosen]], len(loads))
        true_ratio = math.exp(self.truth[chosen] - self.truth[base])
        lucky = max(tries, key=lambda row: tries[row])
        return Outcome(
            self.truth[chosen],
            low <= math.exp(self.truth[chosen]) <= high,
            ratio is None or ratio.low <= true_ratio <= ratio.high,
            tries[lucky] - self.truth[lucky],
        )


def line(noise: float, seeds: range) -> str:
    searched = [Trial(seed, noise).search() for seed in seeds]
    drawn = [Trial(seed, noise).by_chance() for seed in seeds]
    best = max(read_surface()[1].values())
    pairs = list(zip(searched, drawn, strict=True))
    counts = [sum(test(ours.truth, theirs.truth) for ours, theirs in pairs) for test in (float.__gt__, float.__eq__)]
    loss, other_loss = (1 - math.exp(float(np.mean([one.truth - best for one in each]))) for each in (searched, drawn))
    covered = [sum(getattr(one, name) for one in searched) for name in ("figure_covered", "ratio_covered")]
    luck = math.expm1(float(np.mean([one.luck for one in searched])))
    return (
        f"noise {noise:.0%}, {len(seeds)} seeds: better in {counts[0]}, equal in {counts[1]}; below the best by "
        f"{loss:.1%}, by chance {other_loss:.1%}; figure covered in {covered[0]}, ratio in {covered[1]}; "
        f"luck of the best try {luck:+.1%}"
    )


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What a search is worth, over a recorded surface.")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="seed to begin with")
    asked = parser.parse_args(given)
    for noise in (0.01, 0.03, 0.1):
        print(line(noise, range(asked.first, asked.first + asked.seeds)), flush=True)


if __name__ == "__main__":
    main()
