"""Any metrics over any axes: what a table of a spec is that names no layout."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.layouts import readable
from compiler.layouts.block import Block, Spot, cell
from compiler.layouts.layout import ARMS, STEP, Layout
from compiler.layouts.table import ABSENT, Cell, Column, Table

QPS = "qps"


def tables(block: Block) -> list[Table]:
    """Metrics go across, where no axis does; else each has a table."""
    metrics = block.metrics or (QPS,)
    if block.columns == ((),):
        return [_by_metric(block, metrics)]
    return [_by_column(block, metric, len(metrics) > 1) for metric in metrics]


def _by_metric(block: Block, metrics: Sequence[str]) -> Table:
    heads = [Column(block.call(metric), unit=unit(block, metric)) for metric in metrics]
    rows = tuple(
        (*_labels(block, row), *(figure(block, block.spot(row), metric) for metric in metrics))
        for row in range(len(block.rows))
        if block.spot(row).status != ABSENT
    )
    return Table(block.title, (*_heads(block), *heads), rows, block.point, _before(block), block.notes)


def _by_column(block: Block, metric: str, several: bool) -> Table:
    heads = [Column(block.column(index) or block.call(metric)) for index in range(len(block.columns))]
    rows = tuple(
        (*_labels(block, row), *(figure(block, block.spot(row, column), metric) for column in range(len(heads))))
        for row in range(len(block.rows))
    )
    said = block.call(metric) + (f", {what}" if (what := unit(block, metric)) else "")
    point = ", ".join(part for part in (block.point, said if several or not block.base else "") if part)
    return Table(block.title, (*_heads(block), *heads), rows, point, _before(block), block.notes)


def figure(block: Block, spot: Spot, metric: str) -> Cell:
    if block.base is None:
        value = spot.values.get(metric)
        return cell(spot, None if value is None else readable.figure(value, readable.unit(metric)), value)
    found = spot.ratios.get(metric)
    if found is None and metric in spot.values and not spot.status:
        return Cell("no base", "missing")
    return cell(spot, None if found is None else readable.ratio(found), found)


def unit(block: Block, metric: str) -> str:
    return "" if block.base is not None else readable.unit(metric)


def _before(block: Block) -> tuple[str, ...]:
    return () if block.base is None else (f"relative to {block.base}",)


def _heads(block: Block) -> list[Column]:
    return [Column(name, label=True) for name in block.row_axes or ("",)]


def _labels(block: Block, row: int) -> list[Cell]:
    return [Cell(label or "-") for label in block.rows[row]] or [Cell("")]


LAYOUT = Layout("figures", tables, (ARMS,), (), (STEP,), own_metrics=True)
