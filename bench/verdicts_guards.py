"""Rules of the expected noise, each taken away: what the simulated tables lose without it.

`.venv/bin/python bench/verdicts_guards.py [--tables 1600]`: the tables of `verdicts.py`, and below each row the rules
without which a share is worse by more than three points. *plain limma*: prior variance and degrees of freedom of all
comparisons of a report, no rule of our own."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.special import digamma, polygamma  # noqa: E402

from bench import verdicts_rows  # noqa: E402  # the checkout's own
from bench.verdicts_rows import Array  # noqa: E402
from stepgrid.model.plan import ALPHA  # noqa: E402
from stepgrid.summarize.statistics import confidence_intervals as intervals  # noqa: E402

POINTS = 0.03
NAMES, SIGNS, COVERED = ("different", "2 % apart", "covered", "same", "5 % found"), np.array([1, 1, -1, -1, -1]), 2

CHANCE_OF_OWN_NOISE = intervals._chance_of_own_noise


def limma(spreads: intervals.Spreads) -> intervals.Moderated:
    """Smyth 2004: moments of the logarithms of all variances give the prior."""
    variance, freedom = np.maximum(spreads.variance, intervals.FLOOR), spreads.freedom
    logs = np.log(variance) - digamma(freedom / 2) + np.log(freedom / 2)
    total = float(freedom.sum())
    scatter = logs.var(ddof=1) - polygamma(1, freedom / 2).mean() if len(logs) > 1 else 0.0
    if scatter > 0:
        half = intervals._freedom_of_spread(scatter) / 2
        prior, expected = 2 * half, np.exp(logs.mean() + digamma(half) - np.log(half))
    else:
        prior, expected = intervals.MANY, (variance * freedom).sum() / total
    moderated = (prior * expected + freedom * variance) / (prior + freedom)
    posterior = np.minimum(prior + freedom, total)
    weight = posterior - freedom
    return intervals.Moderated(moderated, posterior, weight**2 / np.maximum(total * posterior, 1e-9))


def _chance_of_three_loads(freedom: Array, evidence: Array, usual: intervals.Flags) -> Array:
    """Judge two loads as three are."""
    return CHANCE_OF_OWN_NOISE(np.maximum(freedom, 2), evidence, usual)


BASE_SHARES = "shares of the base"
WITHOUT: Mapping[str, Mapping[str, object]] = {
    "OUTLIER": {"OUTLIER": 0.0},
    "FEWEST": {"FEWEST": 1},
    "NOISY": {"NOISY": 0.0},
    "LITTLE": {"LITTLE": 0.0},
    "PER_OUTLIER": {"PER_OUTLIER": 0.0},
    "WARY": {"_chance_of_own_noise": _chance_of_three_loads},
    BASE_SHARES: {"_base_shares": lambda samples, base: np.full(len(samples), intervals.LEAST_SHARED)},
    "any rule: plain limma": {"moderated": limma},
}


@contextmanager
def replaced(**values: object) -> Iterator[None]:
    before = {name: getattr(intervals, name) for name in values}
    for name, value in values.items():
        setattr(intervals, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(intervals, name, value)


def losses(used: Array, other: Array) -> tuple[list[str], float]:
    """Name the shares that are worse without a rule, report by report; and the half width (95 %) of the other losses.

    More than 95 % of covered tables are not missed.
    """
    with_rule, without = used.mean(axis=0), other.mean(axis=0)
    with_rule[COVERED] = min(with_rule[COVERED], 1 - ALPHA)
    worse = SIGNS * (without - with_rule)
    texts = [
        f"{NAMES[at]} {100 * without[at]:.0f} ({100 * with_rule[at]:.0f})" for at in np.flatnonzero(worse > POINTS)
    ]
    widths = 1.96 * (other - used).std(axis=0) / math.sqrt(len(used))
    return texts, float(widths[(worse > 0) & (worse <= POINTS)].max(initial=0))


def rows(tables: int) -> Iterator[str]:
    widths = []
    for kind, loads, arms in verdicts_rows.settings():
        reports = verdicts_rows.reports(kind, loads, arms, tables)
        used = verdicts_rows.shares(reports, arms)
        yield f"{kind:24} {loads:2} loads, {arms:2} arms: {verdicts_rows.mean_row(used)}"
        for name, values in WITHOUT.items():
            with replaced(**values):
                worse, width = losses(used, verdicts_rows.shares(reports, arms))
            widths.append(width)
            if worse:
                yield f"    without {name}: {', '.join(worse)}"
    yield f"half width (95 %) of a loss that is not printed: at most {100 * max(widths):.1f} points"


def main() -> None:
    parser = argparse.ArgumentParser(description="What each rule of the expected noise is for.")
    parser.add_argument("--tables", type=int, default=1600)
    parser.add_argument("--by-report", action="store_true", help="false verdicts by report, without shares of the base")
    args = parser.parse_args()
    if args.by_report:
        with replaced(**WITHOUT[BASE_SHARES]):
            print("\n".join(verdicts_rows.by_report(args.tables // 4)))
    else:
        for line in rows(args.tables):
            print(line, flush=True)
    print(f"{time.process_time():.0f} s of CPU time")


if __name__ == "__main__":
    main()
