"""What `confirm` does to a gate: claims that an arm is no more than 5 % slower, judged by first, then by fresh loads.

`.venv/bin/python bench/confirm.py [--claims 48000]`: a minute on one core. Reports of eight steps, one arm each, at 1 %
of noise; slower by the percentage of the row, of which 5 % is still claimed."""

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

from bench.verdicts_rows import NOISE, STEPS, Array  # noqa: E402  # the checkout's own
from stepgrid.summarize.statistics.confidence_intervals import LogRatios, table_intervals  # noqa: E402

SEED, CLAIMED = 20264, 5
LOADS, PERCENT = (3, 5), (0, 4, 5, 6, 7, 8, 10)


class Row(NamedTuple):
    """Shares of the claims."""

    suspected: float
    confirmed: float

    def __str__(self) -> str:
        return f"suspected {self.suspected:.2%}, confirmed {self.confirmed:.2%}"


def row(loads: int, percent: float, claims: int) -> Row:
    chance = np.random.default_rng(SEED)
    found = np.array([_judged(chance, loads, percent) for _ in range(claims // STEPS)])
    return Row(float(found[:, 0].mean()), float(found.all(axis=1).mean()))


def _judged(chance: np.random.Generator, loads: int, percent: float) -> Array:
    """Of each step whether it fails in its first loads, and in fresh ones; suspects are judged together."""
    first = _fails(_ratios(chance, STEPS, loads, percent))
    suspects = int(first.sum())
    fresh = np.zeros(STEPS, bool)
    if suspects:
        fresh[first] = _fails(_ratios(chance, suspects, loads, percent))
    return np.array([first, fresh])


def _ratios(chance: np.random.Generator, steps: int, loads: int, percent: float) -> Array:
    figures: Array = chance.normal(size=(steps, 2, loads)) * NOISE
    return figures[:, 1] - figures[:, 0] + math.log1p(-percent / 100)


def _fails(ratios: Array) -> Array:
    tables = table_intervals([[LogRatios(tuple(each.tolist()), "base", tuple(range(len(each))))] for each in ratios])
    return np.array([interval is not None and interval.high < 1 - CLAIMED / 100 for [interval] in tables])


def rows(claims: int) -> Iterator[str]:
    for loads, percent in product(LOADS, PERCENT):
        yield f"{loads} loads and {loads} fresh ones, {percent:2} % slower: {row(loads, percent, claims)}"


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What fresh loads do to false alarms, and to what is found.")
    parser.add_argument("--claims", type=int, default=48_000)
    for line in rows(parser.parse_args(given).claims):
        print(line, flush=True)


if __name__ == "__main__":
    main()
