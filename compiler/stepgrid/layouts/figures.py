"""Any metrics over any axes: what a table of a spec is that names no layout."""

from __future__ import annotations

from collections.abc import Sequence

from stepgrid.layouts.shared import ratio_cells
from stepgrid.model import number_format
from stepgrid.model.table import ABSENT, Cell, Column, Table
from stepgrid.plugins.layout import ARMS, STEP, Block, Layout, LayoutCell, cell
from stepgrid.plugins.metrics import unit

QPS = "qps"


def tables(block: Block) -> list[Table]:
    """Metrics go across, where no axis does; else each has a table."""
    metrics = block.metrics or (QPS,)
    if block.columns == ((),):
        return [_by_metric(block, metrics)]
    return [_by_column(block, metric, len(metrics) > 1) for metric in metrics]


def _by_metric(block: Block, metrics: Sequence[str]) -> Table:
    heads = [Column(block.call(each), unit="" if each in block.called else _unit(block, each)) for each in metrics]
    rows = (
        (*labels(block, row), *(figure(block, block.spot(row), metric) for metric in metrics))
        for row in range(len(block.rows))
        if block.spot(row).status != ABSENT
    )
    notes = (*_notes(block, metrics), *_units(block, metrics))
    return block.table((*label_heads(block), *heads), rows, before=_before(block), notes=notes)


def _by_column(block: Block, metric: str, several: bool) -> Table:
    heads = map(Column, block.heads(block.call(metric)))
    rows = (
        (*labels(block, row), *(figure(block, spot, metric) for spot in block.line(row)))
        for row in range(len(block.rows))
    )
    said = block.call(metric) + (f", {what}" if (what := _unit(block, metric)) else "")
    part = said if several or not block.base else ""
    notes = _notes(block, [metric])
    return block.table((*label_heads(block), *heads), rows, part, before=_before(block), notes=notes)


def figure(block: Block, spot: LayoutCell, metric: str) -> Cell:
    if block.base is None:
        value = spot.values.get(metric)
        return cell(spot, None if value is None else number_format.figure(value, unit(metric)), value)
    found = spot.ratios.get(metric)
    if found is None and metric in spot.values and not spot.status:
        return Cell("no base", "missing")
    return cell(spot, None if found is None else ratio_cells.text(spot, metric, number_format.ratio(found)), found)


def _unit(block: Block, metric: str) -> str:
    return "" if block.base is not None else unit(metric)


def _units(block: Block, metrics: Sequence[str]) -> tuple[str, ...]:
    """Of figures that the table calls otherwise: their heads stay as short as they were meant."""
    found: dict[str, list[str]] = {}
    for metric in metrics:
        if metric in block.called and (said := _unit(block, metric)):
            found.setdefault(said, []).append(block.called[metric])
    return ("; ".join(f"{', '.join(names)}: {said}" for said, names in found.items()),) if found else ()


def _before(block: Block) -> tuple[str, ...]:
    return () if block.base is None else (f"relative to {block.base}",)


def _notes(block: Block, metrics: Sequence[str]) -> tuple[str, ...]:
    return (*block.notes, *(ratio_cells.notes(block, metrics) if block.base is not None else ()))


def label_heads(block: Block) -> list[Column]:
    return [Column(name, label=True) for name in block.row_axes or ("",)]


def labels(block: Block, row: int) -> list[Cell]:
    return [Cell(label or "-") for label in block.rows[row]] or [Cell("")]


LAYOUT = Layout("figures", tables, (ARMS,), (), (STEP,), own_metrics=True)
