"""The insert benchmark: throughput by step, the same to the base, rows/s under their target, costs and sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from stepgrid.layouts.shared import insert_metrics, insert_sizes
from stepgrid.layouts.shared.base_row import base_row
from stepgrid.layouts.shared.cell_colours import WORST, ColouredValue, coloured, relative
from stepgrid.layouts.shared.insert_rates import INSERTS, TARGET, metric, speed, sustained
from stepgrid.model import number_format
from stepgrid.model.table import ABSENT, Cell, Table, columns
from stepgrid.plugins.layout import ARMS, BASE, MARK, STEP, Block, Layout, LayoutCell, cell, fixed

FAILED = f"{MARK}: failed its rate: less than 95 % of the rows/s that were asked of all clients"


def tables(block: Block) -> list[Table]:
    found = [_throughput(block), *_relative(block)]
    if asked := [at for at in range(len(block.columns)) if _targets(block, at)]:
        found.append(_rates(block, asked))
    return [*found, *insert_metrics.tables(block), *insert_sizes.tables(block)]


def _throughput(block: Block) -> Table:
    every = range(len(block.columns))
    by_column = [_coloured(block, column) for column in every]
    notes = (*block.notes, "l.*: rows/s; q*: queries/s", *_failed(block))
    return _each(block, "throughput", every, lambda row, column: by_column[column][row], notes=notes)


def _coloured(block: Block, column: int) -> list[Cell]:
    spots = [block.spot(row, column) for row in range(len(block.rows))]
    kinds = coloured(
        [ColouredValue(None if spot.status else speed(spot.values), sustained(spot.values)) for spot in spots]
    )
    return [_marked(spot, speed(spot.values), kind) for spot, kind in zip(spots, kinds, strict=True)]


def _marked(spot: LayoutCell, rate: float | None, kind: str, of: str = "") -> Cell:
    plain = fixed(spot, rate, 0)
    return plain if plain.kind else Cell(plain.text + ("" if sustained(spot.values) else MARK) + of, kind, rate)


def _relative(block: Block) -> list[Table]:
    known = {block.row(row): row for row in _rows(block) if any(not spot.status for spot in block.line(row))}
    name = base_row(known, block.base)
    if name is None or len(_rows(block)) < 2:
        return []
    show = partial(_ratio, block, known[name])
    return [_each(block, f"relative to {name}", range(len(block.columns)), show, notes=block.notes)]


def _ratio(block: Block, base: int, row: int, column: int) -> Cell:
    spot = block.spot(row, column)
    found = block.ratio((row, column), (base, column), metric(spot.values))
    plain = cell(spot, None if found is None or block.spot(base, column).status else number_format.ratio(found))
    return plain if plain.kind else Cell(plain.text, relative(float(plain.text)), found)


def _rates(block: Block, asked: Sequence[int]) -> Table:
    """Under a row of what was asked for; where that differs by row, beside each rate."""
    targets = {at: _targets(block, at) for at in asked}
    alike = all(len(found) == 1 for found in targets.values())
    first = [(Cell("target"), *(Cell(number_format.fixed(targets[at][0], 0) or "") for at in asked))] if alike else []
    notes = (*block.notes, *_failed(block))
    show = lambda row, column: _rate(block.spot(row, column), alike)  # noqa: E731
    return _each(block, "insert rate against target", asked, show, first, notes)


def _targets(block: Block, column: int) -> list[float]:
    spots = [block.spot(row, column) for row in range(len(block.rows))]
    return list(dict.fromkeys(spot.values[TARGET] for spot in spots if TARGET in spot.values))


def _rate(spot: LayoutCell, alike: bool) -> Cell:
    of = "" if alike or TARGET not in spot.values else f" of {number_format.fixed(spot.values[TARGET], 0)}"
    return _marked(spot, spot.values.get(INSERTS), "" if sustained(spot.values) else WORST, of)


def _each(
    block: Block,
    what: str,
    across: Sequence[int],
    show: Callable[[int, int], Cell],
    first: Sequence[Sequence[Cell]] = (),
    notes: Sequence[str] = (),
) -> Table:
    rows = [(Cell(block.row(row)), *(show(row, at) for at in across)) for row in _rows(block)]
    heads = columns([block.heads()[at] for at in across], ["dbms"], last=False)
    return block.table(heads, [*first, *rows], what, notes=notes)


def _rows(block: Block) -> list[int]:
    """Those of which something is known: published probes have no rates beside them."""
    lines = enumerate(map(block.line, range(len(block.rows))))
    return [
        row
        for row, spots in lines
        if any(spot.status not in ("", ABSENT) or speed(spot.values) is not None for spot in spots)
    ]


def _failed(block: Block) -> tuple[str, ...]:
    return () if all(sustained(spot.values) for spot in block.spots.values()) else (FAILED,)


LAYOUT = Layout("insert benchmark", tables, (BASE,), (STEP,), (ARMS,), (INSERTS,), compares=True)
