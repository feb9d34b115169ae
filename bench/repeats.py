"""How often `repeat: N` shows what the advice says: reports of eight steps and four arms, then with as many loads.

`.venv/bin/python bench/repeats.py [--reports 200]`: two minutes on one core. It is true where half of the undecided
points reach no farther than 3 %."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from bench.verdicts_rows import EFFECT, KINDS, Array  # noqa: E402  # the checkout's own
from stepgrid.model.plan import DIFFERENCE  # noqa: E402
from stepgrid.summarize.statistics import verdicts  # noqa: E402
from stepgrid.summarize.statistics.confidence_intervals import Interval, LogRatios, table_intervals  # noqa: E402

SEED, ARMS, MOST = 20266, 4, 100


def judged(figures: Array, loads: int) -> list[Interval]:
    tables = [
        [LogRatios(tuple((arm - table[0])[:loads].tolist()), "base", tuple(range(loads))) for arm in table[1:]]
        for table in figures
    ]
    return [interval for table in table_intervals(tables) for interval in table if interval]


def rows(reports: int) -> Iterator[str]:
    for kind, noise, loads in product(
        ("normal", "steps differ in noise", "arms differ in noise"), (0.02, 0.03), (3, 5)
    ):
        draws, outcomes, ranges = np.random.default_rng(SEED), [], []
        for _ in range(reports):
            figures = KINDS[kind](draws, ARMS, MOST) * noise
            intervals = judged(figures, loads)
            wide = [
                at for at, each in enumerate(intervals) if not verdicts.is_decided(each, verdicts.StoppingRule(EFFECT))
            ]
            wanted = verdicts.needed_loads([intervals[at] for at in wide])
            if wide and wanted.least and wanted.most and wanted.least > loads:
                later = [judged(figures, count) for count in wanted]
                reaches = [verdicts.middle_reach([each[at] for at in wide]) for each in later]
                outcomes.append([reach <= DIFFERENCE for reach in reaches])
                ranges.append(wanted)
        if outcomes:
            true, ends = np.mean(outcomes, axis=0), np.median(ranges, axis=0)
            yield (
                f"{kind}, {noise:.0%}, {loads} loads: {ends[0]:.0f} to {ends[1]:.0f}; true with the least "
                f"{true[0]:.0%}, with the most {true[1]:.0%} of {len(outcomes)} reports"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="How often the advised loads show what is said.")
    parser.add_argument("--reports", type=int, default=200)
    for line in rows(parser.parse_args().reports):
        print(line, flush=True)


if __name__ == "__main__":
    main()
