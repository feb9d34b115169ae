"""What the figures of a block have in common, taken out: an additive model of rows (cells) and columns (blocks).

Arms are compared load by load, within a block. So a host that was faster during one block is no noise of a comparison,
and only what remains of a cell beside its block says how far apart equal arms come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = Mapping[str, Mapping[Hashable, float]]  # cell -> block -> logarithm of a figure
SWEEPS = 4  # medians of blocks and means of cells by turns; of a complete table two are enough


class Residual(NamedTuple):
    """Of one cell; `squares` over the variance of a figure is a chi-square of so many degrees of freedom."""

    squares: float
    freedom: int
    counted: float  # degrees of freedom that are left to it once the blocks have theirs


def residuals(rows: Rows) -> list[Residual]:
    """None of a cell that shares fewer than two blocks with others: nothing tells its noise from theirs."""
    paired = _paired(rows)
    if not paired:
        return []
    blocks = list(dict.fromkeys(block for row in paired.values() for block in row))
    freedoms = [len(row) - 1 for row in paired.values()]
    share = (sum(freedoms) - (len(blocks) - 1)) / sum(freedoms)
    left = _without(np.array([[row.get(block, np.nan) for block in blocks] for row in paired.values()]))
    squares = np.nansum(left**2, axis=1) / share
    return [Residual(float(of), each, each * share) for of, each in zip(squares, freedoms, strict=True)]


def _paired(rows: Rows) -> dict[str, dict[Hashable, float]]:
    """Blocks of two cells or more, and cells of two such blocks or more."""
    count = Counter(block for row in rows.values() for block in row)
    kept = {cell: {block: row[block] for block in row if count[block] > 1} for cell, row in rows.items()}
    found = {cell: row for cell, row in kept.items() if len(row) > 1}
    return found if found == rows else _paired(found)


def _without(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Medians of blocks, so that one disturbed cell is none of the others' noise."""
    for _ in range(SWEEPS):
        grid = grid - np.nanmean(grid, axis=1, keepdims=True)
        grid = grid - np.nanmedian(grid, axis=0, keepdims=True)
    left: NDArray[np.float64] = grid - np.nanmean(grid, axis=1, keepdims=True)
    return left
