"""Noise floor: how far apart equal arms came out in this experiment, for each step, engine and metric.

Arms that share their loads start from one and the same database; their noise is that of runs and results of one load.
Arms with databases of their own have the noise of loads. Effects of a block of measurements are taken out first, as
pairing by load takes them out of a ratio. No figure of another experiment counts: the verdict of one spec does not
depend on which others share the store.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from stepgrid.model.metrics import QPS
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import PastFigure, Run, Tables
from stepgrid.summarize.statistics.confidence_intervals import CONFIDENCE, exp, special
from stepgrid.summarize.statistics.confidence_intervals import FLOOR as ROUNDED

FEWEST_GROUPS, FEWEST_FREEDOMS = 3, 6  # groups of equal things; degrees of freedom in all
SWEEPS = 4  # medians of blocks and means of cells by turns; of a complete table two are enough


class NoiseKind(NamedTuple):
    """Figures that may be taken for equal but for chance."""

    metric: str
    shares_loads: bool
    step: str
    driver: str
    engine: str


class NoiseSpread(NamedTuple):
    deviation: float  # of the logarithm of one figure
    freedom: int


class Residual(NamedTuple):
    """Noise of one cell; `squares` over the variance of a figure is a chi-square of so many degrees of freedom."""

    squares: float
    freedom: int
    remaining: float  # degrees of freedom once the blocks have theirs


class NoiseFloors(Struct, frozen=True):
    _runs: Sequence[Run] = ()
    _past: Sequence[PastFigure] = ()
    _engines: Mapping[str, str] = {}  # by build
    _residuals: dict[str, Mapping[NoiseKind, Sequence[Residual]]] = {}  # by metric
    _spreads: dict[NoiseKind, NoiseSpread | None] = {}

    def floor(self, point: Point, base: Point, shares_loads: bool, metric: str = QPS) -> float | None:
        """Return the distance that equal arms with so many loads keep 19 times in 20: 0.013 is 1.3 %."""
        variances, freedoms = [], []
        for side in (point, base):
            spread, loads = self._spread(side, shares_loads, metric), side.values(metric)
            if spread is None or not loads:
                return None
            variances.append(spread.deviation**2 / (sum(map(len, loads.values())) if shares_loads else len(loads)))
            freedoms.append(spread.freedom)
        return exp(special("stdtrit", min(freedoms), (1 + CONFIDENCE) / 2) * math.sqrt(sum(variances))) - 1

    def _spread(self, point: Point, shares_loads: bool, metric: str) -> NoiseSpread | None:
        kind = _kind(point.runs[0], shares_loads, metric, self._engines)
        if kind not in self._spreads:
            if metric not in self._residuals:
                figures = _figures(self._runs, self._past if metric == QPS else (), metric, self._engines)
                self._residuals[metric] = _residuals_by_kind(figures)
            self._spreads[kind] = _typical_spread(self._residuals[metric].get(kind, ()))
        return self._spreads[kind]


def noise_floors(tables: Tables) -> NoiseFloors:
    """Prepare the floors of a plan's tables; older results count on the hosts that its newest were measured on."""
    hosts = {facts["hostname"] for facts in tables.facts.get("host", {}).values() if "hostname" in facts}
    engines = {build: facts["engine"] for build, facts in tables.facts.get("build", {}).items() if "engine" in facts}
    runs = [run for run in tables.runs if run.measured and run.same_as is None]
    stage_steps = {run.place for run in runs}
    past = [figure for figure in tables.history if figure.host in hosts and figure.place in stage_steps]
    return NoiseFloors(runs, past, engines)


class _Figure(NamedTuple):
    """Figures of one `age` were measured together: 0 is the newest result of each stage."""

    age: int
    cell: str
    load: int
    run: int
    kind: NoiseKind
    log: float


def _kind(run: Run, shares_loads: bool, metric: str, engines: Mapping[str, str]) -> NoiseKind:
    return NoiseKind(metric, shares_loads, run.step, run.kind, engines.get(run.build_id, ""))


def _figures(
    runs: Sequence[Run], past: Sequence[PastFigure], metric: str, engines: Mapping[str, str]
) -> Iterator[_Figure]:
    """List the newest figures and older ones; a cell has the name that the history gives it, by its first stage."""
    engine_by_place = {run.place: engines.get(run.build_id, "") for run in runs}
    by_place = sorted(sorted(past, key=lambda figure: figure.attempt, reverse=True), key=lambda figure: figure.place)
    for stage_step, results in groupby(by_place, key=lambda figure: figure.place):
        for age, figure in enumerate(results, 1):
            if figure.qps > 0:
                kind = NoiseKind(metric, figure.restored, figure.step, figure.kind, engine_by_place[stage_step])
                yield _Figure(age, figure.cell, figure.load, figure.run, kind, math.log(figure.qps))
    is_restored = {figure.cell: figure.restored for figure in past}
    first: dict[tuple[object, ...], str] = {}
    for run in runs:
        cell = first.setdefault((run.cell, run.step, *run.labels.items()), f"{run.place[0]}/{run.place[1]}")
        if (value := run.metrics.get(metric, 0.0)) > 0:
            kind = _kind(run, is_restored.get(cell, True), metric, engines)
            yield _Figure(0, cell, run.load, run.run, kind, math.log(value))


def _residuals_by_kind(figures: Iterable[_Figure]) -> Mapping[NoiseKind, Sequence[Residual]]:
    """Group figures that only chance and their blocks tell apart: those of one load, and loads of one cell."""
    tables: dict[tuple[NoiseKind, object], dict[str, dict[Hashable, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for figure in figures:
        of_loads = figure.kind._replace(shares_loads=False)
        tables[figure.kind, ("runs", figure.load)][figure.cell][figure.run, figure.age].append(figure.log)
        tables[of_loads, ("loads", figure.age)][figure.cell][figure.load].append(figure.log)
    by_kind: dict[NoiseKind, list[Residual]] = defaultdict(list)
    for (kind, _), rows in tables.items():
        means = {cell: {block: fmean(logs) for block, logs in row.items()} for cell, row in rows.items()}
        by_kind[kind] += residuals(means)
    return by_kind


def _typical_spread(groups: Sequence[Residual]) -> NoiseSpread | None:
    """Take the median over the groups, so that one disturbed hour is no floor."""
    freedom = math.floor(sum(group.remaining for group in groups) + 1e-9)
    if len(groups) < FEWEST_GROUPS or freedom < FEWEST_FREEDOMS:
        return None
    scaled = [group.squares / special("chdtri", group.freedom, 0.5) for group in groups]
    return NoiseSpread(math.sqrt(max(median(scaled), ROUNDED / 2)), freedom)


# Effects of blocks: an additive model of rows (cells) and columns (blocks)

Rows = Mapping[str, Mapping[Hashable, float]]  # cell -> block -> logarithm of a figure


def residuals(rows: Rows) -> list[Residual]:
    """Return the noise of each cell without that of its blocks; a cell that shares fewer than two blocks has none."""
    paired = _paired(rows)
    if not paired:
        return []
    blocks = list(dict.fromkeys(block for row in paired.values() for block in row))
    freedoms = [len(row) - 1 for row in paired.values()]
    share = (sum(freedoms) - (len(blocks) - 1)) / sum(freedoms)
    grid = np.array([[row.get(block, np.nan) for block in blocks] for row in paired.values()])
    squares = np.nansum(_without_blocks(grid) ** 2, axis=1) / share
    return [Residual(float(sum_), freedom, freedom * share) for sum_, freedom in zip(squares, freedoms, strict=True)]


def _paired(rows: Rows) -> Rows:
    """Keep blocks of two cells or more, and cells of two such blocks or more."""
    cells_of_block = Counter(block for row in rows.values() for block in row)
    shared = {cell: {block: row[block] for block in row if cells_of_block[block] > 1} for cell, row in rows.items()}
    paired = {cell: row for cell, row in shared.items() if len(row) > 1}
    return paired if paired == rows else _paired(paired)


def _without_blocks(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take out medians of blocks, so that one disturbed cell is none of the others' noise."""
    for _ in range(SWEEPS):
        grid = grid - np.nanmean(grid, axis=1, keepdims=True)
        grid = grid - np.nanmedian(grid, axis=0, keepdims=True)
    residual: NDArray[np.float64] = grid - np.nanmean(grid, axis=1, keepdims=True)
    return residual
