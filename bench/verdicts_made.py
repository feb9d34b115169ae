"""Experiments made up in memory, as tables: arms measured in blocks, on a host that drifts, with loads that differ.

The variance of a figure, as a share of all: what differs between loads (with arms that share their loads it is the same
in all of them), what differs between runs (Student's t with 4 degrees of freedom: odd runs are not rare), the mean of a
series whose neighbouring seconds depend on each other, and a drift over the whole experiment. Beside it, `blocks`: what
all arms of a block have in common, because the host was faster or slower then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from stepgrid.model.plan import PlannedAxis
from stepgrid.model.status import Status
from stepgrid.summarize.data.tables_reader import Run, Tables

SHARES = {"load": 0.5, "run": 0.25, "series": 0.15, "drift": 0.1}
TAILS = 4
STEP, AXIS, OTHERS = "readww", "arm", 3  # comparisons beside the first, in every second table
START = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
Array = NDArray[np.float64]


class Made(NamedTuple):
    axes: tuple[PlannedAxis, ...]
    tables: Tables


class Kind(NamedTuple):
    noise: float  # coefficient of variation of a figure
    loads: int
    shift: float = 0.0  # of every arm but the base, as a logarithm
    blocks: float = 0.0  # spread between blocks, as a logarithm; beside the noise, not within it
    own_loads: bool = False  # no arms that share their loads
    series: bool = False  # with the seconds
    same_load: bool = False  # nothing differs between runs but their seconds
    seconds: int = 60
    dependence: float = 0.6  # of a second on the one before


def experiments(kind: Kind, comparisons: int, seed: int) -> Iterator[Made]:
    """One comparison and four by turns; by turns of two, arms that share their loads and arms that do not."""
    generator, left, index = np.random.default_rng(seed), comparisons, 0
    while left > 0:
        arms = min(left, 1 if index % 2 == 0 else 1 + OTHERS) + 1
        yield _experiment(kind, arms, shared=index % 4 < 2 and not kind.own_loads, generator=generator)
        left, index = left - arms + 1, index + 1


def _experiment(kind: Kind, arms: int, shared: bool, generator: np.random.Generator) -> Made:
    order = generator.permuted(np.tile(np.arange(arms), (kind.loads, 1)), axis=1).T  # place of each arm in its block
    place = np.arange(kind.loads) * arms + order
    levels, series = _figures(kind, place, shared, generator)
    levels[1:] += kind.shift
    labels = ("base", *(f"arm{number}" for number in range(1, arms)))
    seconds = levels[..., None] + series
    rates = 1000 * np.exp(seconds)
    runs = [
        _run(labels[arm], load, float(rates[arm, load].mean()), int(place[arm, load]))
        for arm in range(arms)
        for load in range(kind.loads)
    ]
    kept = {run.place: _points(rates[labels.index(run.build), run.load]) for run in runs} if kind.series else {}
    return Made((PlannedAxis(AXIS, labels, (STEP,) if shared else None),), Tables(tuple(runs), kept, {}))


def _figures(kind: Kind, place: Array, shared: bool, generator: np.random.Generator) -> tuple[Array, Array]:
    """Logarithms: the level of each arm and load, and its seconds around it."""
    part = {name: kind.noise * math.sqrt(share) for name, share in SHARES.items()}
    series = part["series"] * _series(kind, place.shape, generator)
    if kind.same_load:
        return np.zeros(place.shape), series
    load = generator.normal(size=(1 if shared else len(place), place.shape[1])) * part["load"]
    run = generator.standard_t(TAILS, place.shape) * math.sqrt((TAILS - 2) / TAILS) * part["run"]
    slope = generator.choice([-1, 1]) * part["drift"] * math.sqrt(12)
    block = generator.normal(size=place.shape[1]) * kind.blocks
    return block + load + run + slope * (place / max(place.max(), 1) - 0.5), series


def _series(kind: Kind, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Of which the mean has a deviation of 1."""
    on, early = kind.dependence, 60
    fresh = generator.normal(size=(*shape, kind.seconds + early))
    series: Array = lfilter([math.sqrt(1 - on**2)], [1, -on], fresh)[..., early:]
    return series * math.sqrt(kind.seconds * (1 - on) / (1 + on))


def _run(label: str, load: int, qps: float, place: int) -> Run:
    return Run(
        cell=label,
        labels={AXIS: label},
        step=STEP,
        kind="db_bench",
        measured=True,
        build=label,
        build_id="b",
        client_id=None,
        load=load,
        run=0,
        place=(f"s-{label}-{load}", 0),
        attempt="1",
        same_as=None,
        status=Status.DONE,
        reason=None,
        log=None,
        started=START + timedelta(minutes=place),
        warnings=(),
        metrics={"qps": qps},
    )


def _points(rates: Array) -> tuple[tuple[float, float], ...]:
    return tuple((float(second), rate) for second, rate in enumerate(rates.tolist(), 1))
