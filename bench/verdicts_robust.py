"""Locations that odd loads do not move, in place of the mean of logarithms: what intervals would be worth.

`.venv/bin/python bench/verdicts_robust.py [--tables 1600]`: reports of eight steps and four arms, 1 % noise, without
odd loads and with one load in twenty that is 20 % slower. Each location has its variance drawn towards the others', as
the mean has."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.special import ndtri  # noqa: E402

from bench import verdicts_rows as rows  # noqa: E402  # the checkout's own
from bench.verdicts_rows import NOISE, STEPS, Array, Family  # noqa: E402
from stepgrid.summarize.statistics.confidence_intervals import LEAST_SHARED, Spreads  # noqa: E402

SEED, ARMS, ODD = 20269, 4, math.log(0.8)
HUBER = 2.5  # standard deviations from the middle at which a load begins to count for less
EFFICIENCY = {3: 1.35, 5: 1.43, 9: 1.50}  # variance of a median of normal loads, over that of their mean


class Location(NamedTuple):
    """By step and arm; `loads` are those of which it is the mean, or nearly."""

    centre: Array
    variance: Array
    freedom: Array
    loads: Array


def mean(logs: Array) -> Location:
    return Location(logs.mean(-1), logs.var(-1, ddof=1), np.full(logs.shape[:2], logs.shape[-1] - 1.0), logs)


def _cut(logs: Array) -> tuple[int, Array]:
    """Return a fifth of the loads, and the logarithms with as many at either end drawn to the next."""
    number, ordered = logs.shape[-1], np.sort(logs, -1)
    cut = round(number / 5) if number > 3 else 0
    return cut, np.clip(logs, ordered[..., cut, None], ordered[..., number - 1 - cut, None])


def trimmed(logs: Array) -> Location:
    """Yuen's."""
    cut, drawn = _cut(logs)
    number, left = logs.shape[-1], logs.shape[-1] - 2 * cut
    variance = (number - 1) * number / (left * (left - 1)) * drawn.var(-1, ddof=1)
    centre = np.sort(logs, -1)[..., cut : number - cut].mean(-1)
    return Location(centre, variance, np.full(logs.shape[:2], left - 1.0), drawn)


def winsorized(logs: Array) -> Location:
    cut, drawn = _cut(logs)
    number, left = logs.shape[-1], logs.shape[-1] - 2 * cut
    variance = drawn.var(-1, ddof=1) * ((number - 1) / (left - 1)) ** 2
    return Location(drawn.mean(-1), variance, np.full(logs.shape[:2], left - 1.0), drawn)


def huber(logs: Array) -> Location:
    """The unit is the median distance from the median, of all comparisons of a table."""
    distances = np.abs(logs - np.median(logs, -1, keepdims=True)).reshape(len(logs), -1)
    unit = np.nanmedian(np.where(distances > 0, distances, np.nan), -1) / ndtri(0.75)
    limit, centre = HUBER * unit[:, None, None], np.median(logs, -1, keepdims=True)
    for _ in range(50):
        centre = centre + np.clip(logs - centre, -limit, limit).mean(-1, keepdims=True)
    rest, inside = np.clip(logs - centre, -limit, limit), (np.abs(logs - centre) < limit).sum(-1)
    number = logs.shape[-1]
    variance = (rest**2).sum(-1) / (number - 1) * (number / np.maximum(inside, 1)) ** 2
    return Location(centre[..., 0], variance, np.maximum(inside - 1, 1).astype(float), centre + rest)


def middle(logs: Array) -> Location:
    """Its variance is that of the M-estimate, times what a median of normal loads has more."""
    robust = huber(logs)
    return robust._replace(centre=np.median(logs, -1), variance=robust.variance * EFFICIENCY[logs.shape[-1]])


LOCATIONS: Mapping[str, Callable[[Array], Location]] = {
    "mean (in use)": mean,
    "trimmed (Yuen)": trimmed,
    "winsorized": winsorized,
    f"Huber's M, {HUBER}": huber,
    "median": middle,
}


def family(location: Location) -> Family:
    centred = location.loads - location.loads.mean(-1, keepdims=True)
    covariances = centred @ centred.swapaxes(1, 2) / (centred.shape[-1] - 1)
    total, variances = covariances.sum((1, 2)), np.trace(covariances, axis1=1, axis2=2)
    correlation = (total - variances) / (variances * (ARMS - 1))
    shared = np.repeat(np.clip(correlation, math.sqrt(LEAST_SHARED), 1) ** 2, ARMS)
    table = np.repeat(np.arange(STEPS), ARMS)
    spreads = Spreads(location.variance.ravel(), location.freedom.ravel(), table, table, shared)
    count = np.full(len(table), location.loads.shape[-1])
    return Family(spreads, np.arange(len(table)), location.centre.ravel(), count)


def lines(tables: int) -> Iterator[str]:
    for share, loads in product((0.0, 0.05), (3, 5, 9)):
        chance, reports = np.random.default_rng(SEED), []
        for _ in range(tables // STEPS):
            figures = NOISE * chance.normal(size=(STEPS, ARMS + 1, loads))
            figures += np.where(chance.random(figures.shape) < share, ODD, 0)
            reports.append(figures[:, 1:] - figures[:, :1])
        for name, location in LOCATIONS.items():
            families = [[family(location(logs))] for logs in reports]
            widths = [(ends[:, 1] - ends[:, 0]) / 2 for [each] in families for ends in [rows._ends(each)]]
            row = rows.mean_row(rows.shares(families, ARMS))
            yield f"{share:.0%} odd, {loads} loads, {name:15}: {row}, middle width {np.median(widths):.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description="What intervals of other locations would be worth.")
    parser.add_argument("--tables", type=int, default=1600)
    for line in lines(parser.parse_args().tables):
        print(line, flush=True)
    print(f"{time.process_time():.0f} s of CPU time")


if __name__ == "__main__":
    main()
