"""The bench of the verdicts, in small: its made-up experiments are what they say, and judged as reports are."""

import math
from statistics import stdev

import numpy as np
import pytest

from bench import verdicts, verdicts_made
from bench.verdicts_rows import KINDS


def test_the_figures_are_as_noisy_as_they_say():
    kind = verdicts_made.Kind(0.1, 1)
    made = verdicts_made.experiments(kind, 400, 1)
    logs = [math.log(run.metrics["qps"]) for each in made for run in each.tables.runs if run.build == "base"]
    assert stdev(logs) == pytest.approx(0.1, rel=0.15)


@pytest.mark.parametrize("loads", [3, 5])
def test_blocks_that_differ_cost_no_power(loads):
    """What a host does to all arms of a block is in none of their ratios, and makes no floor."""
    kind = verdicts_made.Kind(0.01, loads, shift=math.log1p(0.05), own_loads=True)
    alike, apart = (verdicts.judged(kind._replace(blocks=blocks), 100) for blocks in (0.0, 0.05))
    assert [[entry.verdict for entry in table] for table in apart] == [
        [entry.verdict for entry in table] for table in alike
    ]
    assert sum(entry.verdict == "faster" for table in apart for entry in table) >= {3: 30, 5: 80}[loads]


NORMAL = ("normal", "steps share half of it", "steps share 9 tenths", "drift", "autocorrelation 0.6")


@pytest.mark.parametrize("kind", NORMAL)
def test_the_noise_of_a_figure_is_one(kind):
    chance = np.random.default_rng(1)
    every = [KINDS[kind](chance, 2, 5) for _ in range(300)]
    assert np.std(every) == pytest.approx(1.0, rel=0.1)
