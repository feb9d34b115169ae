"""Which points of a grid to try next: a model of the figures so far, and where it expects the most of one more try.

The model is a Gaussian process (Rasmussen and Williams 2006, algorithm 2.1) with a length for each axis, whose noise is
estimated too, as one load of a point is a noisy figure. It is right for a few hundred points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from stepgrid.plugins.design import Row
from stepgrid.summarize.statistics.confidence_intervals import arrays

Array = NDArray[np.float64]

MOST_LISTED, DRAWN = 5_000, 2_000  # points of a grid that are all candidates; of a larger one so many are drawn
LONGEST_FIT = 30  # iterations
SPREAD_OF_LENGTHS, SPREAD_OF_NOISE = 1.0, 2.0  # of their logarithms, around half of an axis and a twentieth
LEAST_NOISE = 1e-4  # of the variance of all figures


class SearchAxis(Struct, frozen=True):
    name: str
    values: int
    is_ordered: bool


class Surface(Struct, frozen=True):
    """What figures so far say of any point: larger is better; 0 and 1 are their mean and deviation."""

    inputs: Array
    logs: Array  # of the length of each direction, and of the share that is noise
    weights: Array
    factor: Array  # of the covariance, by Cholesky
    scale: float
    centre: float

    def predict(self, inputs: Array) -> tuple[Array, Array]:
        """Return the mean and the deviation of the figure's expectation."""
        shared = _covariance(inputs, self.inputs, np.exp(self.logs[:-1]))
        solved = np.linalg.solve(self.factor, shared.T)
        variance = np.maximum(1 - (solved**2).sum(axis=0), 1e-12)
        return self.centre + self.scale * (shared @ self.weights), self.scale * np.sqrt(variance)


def propose(
    axes: Sequence[SearchAxis], tries: Mapping[Row, float | None], count: int, allows: Callable[[Row], bool], seed: int
) -> list[Row]:
    """Choose points that were not tried. `tries`: figures, larger is better; None where a condition is not met."""
    chance = np.random.default_rng([seed, len(tries)])
    candidates = [row for row in _candidates(axes, tries, chance) if row not in tries and allows(row)]
    valid = {row: value for row, value in tries.items() if value is not None}
    if len(valid) < 2:
        return candidates[:count]
    worst = min(valid.values())
    figures = {row: worst if value is None else value for row, value in tries.items()}
    rows: list[Row] = []
    model = fit(axes, figures)
    while len(rows) < count and candidates:
        model = fit(axes, figures, model.logs) if rows else model
        mean, deviation = model.predict(_inputs(axes, candidates))
        measured, _ = model.predict(_inputs(axes, list(valid)))
        best = _expected_gain(mean, deviation, float(measured.max())).argmax()
        rows.append(candidates.pop(int(best)))
        figures[rows[-1]] = float(mean[int(best)])  # as if it came out as expected, so that the next one is elsewhere
    return rows


def expectations(axes: Sequence[SearchAxis], tries: Mapping[Row, float]) -> dict[Row, float]:
    """Return what the model expects of each point that was tried: luck of a single load is mostly gone."""
    if len(tries) < 2:
        return dict(tries)
    means, _ = fit(axes, tries).predict(_inputs(axes, list(tries)))
    return dict(zip(tries, means.tolist(), strict=True))


def fit(axes: Sequence[SearchAxis], figures: Mapping[Row, float], logs: Array | None = None) -> Surface:
    """Fit the lengths and the noise, whose logarithms may be known from before, and then the figures."""
    inputs = _inputs(axes, list(figures))
    values = np.array(list(figures.values()))
    centre, scale = float(values.mean()), float(values.std()) or 1.0
    scaled = (values - centre) / scale
    logs = _fit_lengths(inputs, scaled) if logs is None else logs
    factor, solved = _solve(inputs, scaled, logs)
    return Surface(inputs, logs, solved, factor, scale, centre)


def _fit_lengths(inputs: Array, values: Array) -> Array:
    """Return the logarithms of the lengths and, last, of the share of the variance that is noise."""
    from scipy.optimize import minimize

    start = np.array([math.log(0.5)] * inputs.shape[1] + [math.log(0.05)])
    spreads = np.array([SPREAD_OF_LENGTHS] * inputs.shape[1] + [SPREAD_OF_NOISE])
    bounds = [(math.log(0.05), math.log(10))] * inputs.shape[1] + [(math.log(LEAST_NOISE), 0.0)]

    def loss(logs: Array) -> float:
        factor, solved = _solve(inputs, values, logs)
        misfit = 0.5 * float(values @ solved) + float(np.log(np.diag(factor)).sum())
        return misfit + 0.5 * float((((logs - start) / spreads) ** 2).sum())

    logs: Array = minimize(loss, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": LONGEST_FIT}).x
    return logs


def _solve(inputs: Array, values: Array, logs: Array) -> tuple[Array, Array]:
    covariance = _covariance(inputs, inputs, np.exp(logs[:-1])) + np.exp(logs[-1]) * np.eye(len(inputs))
    factor = np.linalg.cholesky(covariance)
    return factor, np.linalg.solve(factor.T, np.linalg.solve(factor, values))


def _covariance(rows: Array, columns: Array, lengths: Array) -> Array:
    """Matérn's of smoothness 5/2."""
    square = ((rows[:, None, :] - columns[None, :, :]) ** 2 / lengths**2).sum(axis=2)
    distance = np.sqrt(5 * square)
    covariance: Array = (1 + distance + 5 * square / 3) * np.exp(-distance)
    return covariance


def _expected_gain(mean: Array, deviation: Array, best: float) -> Array:
    score = (mean - best) / deviation
    density = np.exp(-(score**2) / 2) / math.sqrt(2 * math.pi)
    gain: Array = deviation * (score * arrays("ndtr")(score) + density)
    return gain


def _inputs(axes: Sequence[SearchAxis], rows: Sequence[Row]) -> Array:
    """An ordered axis goes from 0 to 1; of others each value is a direction of its own."""
    columns = []
    for at, axis in enumerate(axes):
        values = np.array([row[at] for row in rows])
        if axis.is_ordered:
            columns.append(values / max(axis.values - 1, 1))
        else:
            columns += [(values == value) / math.sqrt(2) for value in range(axis.values)]
    return np.stack(columns, axis=1).astype(np.float64)


def _candidates(
    axes: Sequence[SearchAxis], tries: Mapping[Row, float | None], chance: np.random.Generator
) -> list[Row]:
    """All points of a small grid in an order by chance; of a large one draws, and the neighbours of the best tries."""
    sizes = [axis.values for axis in axes]
    if math.prod(sizes) <= MOST_LISTED:
        points = list(product(*map(range, sizes)))
        return [points[at] for at in chance.permutation(len(points)).tolist()]
    drawn = (tuple(row) for row in chance.integers(0, sizes, (DRAWN, len(sizes))).tolist())
    best = sorted((row for row, value in tries.items() if value is not None), key=lambda row: -(tries[row] or 0.0))
    near = (
        (*row[:at], value, *row[at + 1 :])
        for row in best[:10]
        for at, size in enumerate(sizes)
        for value in range(size)
    )
    return list(dict.fromkeys((*near, *drawn)))
