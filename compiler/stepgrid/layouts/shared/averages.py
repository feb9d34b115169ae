"""Averages of iostat and of vmstat over a step: a line for each arm, its name last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import Block, LayoutCell, fixed

Figures = Mapping[str, tuple[tuple[str, ...], int]]  # head -> the metrics that it is the sum of, decimals


def tables(block: Block, figures: Figures, name: str, legend: Sequence[str]) -> list[Table]:
    rows = ((*_cells(spot, figures), Cell(subject)) for subject, spot in block.subjects())
    return [block.table(columns(figures, [name]), rows, notes=(*block.notes, *legend))]


def metrics(figures: Figures) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names, _ in figures.values() for name in names))


def _cells(spot: LayoutCell, figures: Figures) -> list[Cell]:
    return [fixed(spot, _sum(spot, names), digits) for names, digits in figures.values()]


def _sum(spot: LayoutCell, names: Sequence[str]) -> float | None:
    return sum(spot.values[name] for name in names) if all(name in spot.values for name in names) else None
