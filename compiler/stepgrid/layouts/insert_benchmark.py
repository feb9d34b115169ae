"""The insert benchmark: throughput by step, with what failed its rate, the same to the first row, and the metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from stepgrid.layouts.shared import insert_metrics
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, STEP, Block, Layout, LayoutCell, cell, fixed

INSERTS, QPS, TARGET = "inserts_per_s", "qps", "target_inserts_per_s"
SUSTAINED = 0.95  # of the target
BEST, WORST, FAILED = "best", "worst", "sla"
QUARTER = 0.25
ALIKE = 0.8  # of the highest: from there on nothing is bad
BELOW = "*: it sustained less than 95 % of the rows/s that were asked of it"


def tables(block: Block) -> list[Table]:
    found = [_throughput(block), _each(block, "relative to the first row", partial(_ratio, block))]
    if any(TARGET in spot.values for spot in block.spots.values()):
        found.append(_rates(block))
    return [*found, *insert_metrics.tables(block)]


def sustained(rate: float | None, target: float | None) -> bool:
    """A rate that rounds to 95 % of what was asked for is sustained."""
    return rate is None or target is None or round(rate) >= round(SUSTAINED * target)


def _kept(spot: LayoutCell) -> bool:
    return sustained(spot.values.get(INSERTS), spot.values.get(TARGET))


def speed(spot: LayoutCell) -> float | None:
    """Of a step that queries its queries/s; of one that only inserts its rows/s."""
    return spot.values.get(QPS, spot.values.get(INSERTS))


def _throughput(block: Block) -> Table:
    by_column = [_coloured(block, column) for column in range(len(block.columns))]
    notes = (*block.notes, "l.*: rows/s; q*: queries/s", *_below(block))
    return _each(block, "throughput", lambda row, column: by_column[column][row], notes=notes)


def _coloured(block: Block, column: int) -> list[Cell]:
    spots = [block.spot(row, column) for row in range(len(block.rows))]
    kinds = coloured([ColouredValue(None if spot.status else speed(spot), _kept(spot)) for spot in spots])
    return [_cell(spot, kind) for spot, kind in zip(spots, kinds, strict=True)]


def _cell(spot: LayoutCell, kind: str) -> Cell:
    plain = fixed(spot, speed(spot), 0)
    return plain if plain.kind else Cell(plain.text + ("" if _kept(spot) else "*"), kind, speed(spot))


def _ratio(block: Block, row: int, column: int) -> Cell:
    spot = block.spot(row, column)
    found = block.ratio((row, column), (0, column), QPS if QPS in spot.values else INSERTS)
    plain = cell(spot, None if found is None or block.spot(0, column).status else number_format.ratio(found))
    return plain if plain.kind else Cell(plain.text, relative_colour(plain.text))


def _rates(block: Block) -> Table:
    """Rows/s beside the queries, under a row of what was asked for."""
    target = (Cell("target"), *(_target(block, at) for at in range(len(block.columns))))
    what = "rows/s inserted beside the queries"
    return _each(block, what, lambda row, column: _rate(block.spot(row, column)), [target], _below(block))


def _target(block: Block, column: int) -> Cell:
    known = (block.spot(row, column).values.get(TARGET) for row in range(len(block.rows)))
    return Cell(number_format.fixed(next((each for each in known if each is not None), None), 0) or "-")


def _rate(spot: LayoutCell) -> Cell:
    plain = fixed(spot, spot.values.get(INSERTS), 0)
    return plain if plain.kind or _kept(spot) else Cell(f"{plain.text}*", "worst")


def _each(
    block: Block,
    what: str,
    show: Callable[[int, int], Cell],
    first: Sequence[Sequence[Cell]] = (),
    notes: Sequence[str] = (),
) -> Table:
    across = range(len(block.columns))
    rows = [(Cell(block.row(row)), *(show(row, at) for at in across)) for row in range(len(block.rows))]
    return block.table(columns(block.heads(), ["dbms"], last=False), [*first, *rows], what, notes=notes)


def _below(block: Block) -> tuple[str, ...]:
    return () if all(_kept(spot) for spot in block.spots.values()) else (BELOW,)


class ColouredValue(NamedTuple):
    value: float | None
    kept: bool = True  # the rate that was asked of it; one that did not counts for nothing here


def coloured(column: Sequence[ColouredValue]) -> list[str]:
    """What failed its rate is grey; of the others red up to a quarter above the lowest, green in the upper quarter."""
    known = [each.value for each in column if each.kept and each.value is not None]
    if not known:
        return ["" if each.kept else FAILED for each in column]
    return [_kind(each, min(known), max(known)) for each in column]


def _kind(each: ColouredValue, low: float, high: float) -> str:
    if not each.kept or each.value is None:
        return FAILED if not each.kept else ""
    margin = QUARTER * (high - low)
    if low < ALIKE * high and each.value <= low + margin:
        return WORST
    return BEST if high > low and each.value >= high - margin else ""


def relative_colour(ratio: str) -> str:
    """Of a figure relative to the first row: below 0.95, above 1.05."""
    value = float(ratio)
    return "less" if value < 0.95 else "more" if value > 1.05 else ""


LAYOUT = Layout("insert benchmark", tables, (ARMS,), (STEP,), (), (INSERTS,))
