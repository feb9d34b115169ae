"""The insert benchmark: throughput by step, with what failed its rate, the same to the first row, and the metrics."""

from __future__ import annotations

from collections.abc import Callable

from stepgrid.layouts import insert_metrics
from stepgrid.layouts.shared.colours import Marked, coloured, relative_colour
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Column, Table, columns
from stepgrid.plugins.layout import ARMS, STEP, Block, Layout, Spot, cell

INSERTS, QPS, TARGET = "inserts_per_s", "qps", "target_inserts_per_s"
SUSTAINED = 0.95  # of the target
BELOW = "*: it sustained less than 95 % of the rows/s that were asked of it"


def tables(block: Block) -> list[Table]:
    found = [_throughput(block), _relative(block)]
    if any(TARGET in spot.values for spot in block.spots.values()):
        found.append(_rates(block))
    return [*found, *insert_metrics.tables(block)]


def sustained(rate: float | None, target: float | None) -> bool:
    """A rate that rounds to 95 % of what was asked for is sustained."""
    return rate is None or target is None or round(rate) >= round(SUSTAINED * target)


def _kept(spot: Spot) -> bool:
    return sustained(spot.values.get(INSERTS), spot.values.get(TARGET))


def speed(spot: Spot) -> float | None:
    """Of a step that queries its queries/s; of one that only inserts its rows/s."""
    return spot.values.get(QPS, spot.values.get(INSERTS))


def _throughput(block: Block) -> Table:
    by_column = [_coloured(block, column) for column in range(len(block.columns))]
    rows = tuple((Cell(block.row(row)), *(found[row] for found in by_column)) for row in range(len(block.rows)))
    notes = (*block.notes, "l.*: rows/s; q*: queries/s", *_below(block))
    return Table(block.title, _heads(block), rows, _point(block, "throughput"), notes=notes)


def _coloured(block: Block, column: int) -> list[Cell]:
    spots = [block.spot(row, column) for row in range(len(block.rows))]
    kinds = coloured([Marked(None if spot.status else speed(spot), _kept(spot)) for spot in spots])
    return [_cell(spot, kind) for spot, kind in zip(spots, kinds, strict=True)]


def _cell(spot: Spot, kind: str) -> Cell:
    plain = cell(spot, number_format.fixed(speed(spot), 0))
    return plain if plain.kind else Cell(plain.text + ("" if _kept(spot) else "*"), kind, speed(spot))


def _relative(block: Block) -> Table:
    return _each(block, "relative to the first row", _ratio)


def _ratio(spot: Spot, base: Spot) -> Cell:
    mine, theirs = speed(spot), speed(base)
    text = None if mine is None or theirs is None or base.status else number_format.ratio_to(mine, theirs)
    plain = cell(spot, text)
    return plain if plain.kind else Cell(plain.text, relative_colour(plain.text))


def _rates(block: Block) -> Table:
    """Rows/s beside the queries, under a row of what was asked for."""
    target = (Cell("target"), *(_target(block, at) for at in range(len(block.columns))))
    table = _each(block, "rows/s inserted beside the queries", lambda spot, _: _rate(spot))
    return Table(table.title, table.columns, (target, *table.rows), table.block, notes=_below(block))


def _target(block: Block, column: int) -> Cell:
    known = (block.spot(row, column).values.get(TARGET) for row in range(len(block.rows)))
    return Cell(number_format.fixed(next((each for each in known if each is not None), None), 0) or "-")


def _rate(spot: Spot) -> Cell:
    plain = cell(spot, number_format.fixed(spot.values.get(INSERTS), 0))
    return plain if plain.kind or _kept(spot) else Cell(f"{plain.text}*", "worst")


def _each(block: Block, what: str, show: Callable[[Spot, Spot], Cell]) -> Table:
    across = range(len(block.columns))
    rows = tuple(
        (Cell(block.row(row)), *(show(block.spot(row, at), block.spot(0, at)) for at in across))
        for row in range(len(block.rows))
    )
    return Table(block.title, _heads(block), rows, _point(block, what))


def _heads(block: Block) -> tuple[Column, ...]:
    return columns([block.column(index) for index in range(len(block.columns))], ["dbms"], last=False)


def _below(block: Block) -> tuple[str, ...]:
    return () if all(_kept(spot) for spot in block.spots.values()) else (BELOW,)


def _point(block: Block, what: str) -> str:
    return ", ".join(part for part in (block.point, what) if part)


LAYOUT = Layout("insert benchmark", tables, (ARMS,), (STEP,), (), (INSERTS,))
