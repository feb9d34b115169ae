"""Any metrics over any axes, and ratios of them: the layouts figures, relative, errors and probes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from stepgrid.model import units
from stepgrid.model.records import replace
from stepgrid.model.table import ABSENT, Cell, Column, Table, columns
from stepgrid.plugins.layout import ARMS, BASE, MARK, RANGE, STEP, Block, Layout, LayoutCell, cell, fixed, legend
from stepgrid.plugins.metrics import unit

_WIDEST_MARGIN = 10.0  # farther than that says nothing more
_MARGIN = "±: the 95 % interval, its longer side; those of a step and base hold together"
_LEGEND_ROOM = 70  # characters for the names of steps
_RECOVERY = {  # metric -> its head
    "first_answer_seconds": "answer",
    "first_commit_seconds": "commit",
    "regained_seconds": "90 % of rate",
    "replay_seconds": "replay",
    "replayed_bytes": "log replayed",
    "replayed_records": "records",
    "excess_latency_seconds": "waits",
    "rows_checked": "checked",
    "rows_lost": "lost",
}
_ERRORS = ("ignored_errors", "reconnects")


def figure_tables(block: Block) -> list[Table]:
    """Put metrics across, where no axis goes there; else make a table for each."""
    metrics = block.metrics or ("qps",)
    if block.columns == ((),):
        return [_metric_columns(block, metrics)]
    return [_axis_columns(block, metric, len(metrics) > 1) for metric in metrics]


def _metric_columns(block: Block, metrics: Sequence[str]) -> Table:
    heads = [Column(block.call(name), unit="" if name in block.called else _unit(block, name)) for name in metrics]
    rows = (
        (*labels(block, row), *(_figure(block, block.spot(row), metric) for metric in metrics))
        for row in range(len(block.rows))
        if block.spot(row).status != ABSENT
    )
    names_by_unit: dict[str, list[str]] = {}  # of figures that the table renames: their heads stay short
    for metric in metrics:
        if metric in block.called and (text := _unit(block, metric)):
            names_by_unit.setdefault(text, []).append(block.called[metric])
    unit_notes = "; ".join(f"{', '.join(names)}: {text}" for text, names in names_by_unit.items())
    notes = (*_notes(block, metrics), *([unit_notes] if unit_notes else []))
    return block.table((*label_heads(block), *heads), rows, before=_base_line(block), notes=notes)


def _axis_columns(block: Block, metric: str, several: bool) -> Table:
    heads = map(Column, block.heads(block.call(metric)))
    rows = (
        (*labels(block, row), *(_figure(block, spot, metric) for spot in block.line(row)))
        for row in range(len(block.rows))
    )
    part = ", ".join(filter(None, (block.call(metric), _unit(block, metric)))) if several or not block.base else ""
    notes = _notes(block, [metric])
    return block.table((*label_heads(block), *heads), rows, part, before=_base_line(block), notes=notes)


def _figure(block: Block, spot: LayoutCell, metric: str) -> Cell:
    if block.base is not None:
        return ratio_cell(spot, metric)
    value = spot.values.get(metric)
    return cell(spot, None if value is None else units.figure(value, _unit(block, metric)), value)


def _unit(block: Block, metric: str) -> str:
    return "" if block.base is not None else block.units.get(metric) or unit(metric)


def _base_line(block: Block) -> tuple[str, ...]:
    return () if block.base is None else (f"relative to {block.base}",)


def _notes(block: Block, metrics: Sequence[str]) -> tuple[str, ...]:
    return (*block.notes, *(ratio_notes(block, metrics) if block.base is not None else ()))


def label_heads(block: Block) -> list[Column]:
    return [Column(name, label=True) for name in block.row_axes or ("",)]


def labels(block: Block, row: int) -> list[Cell]:
    return [Cell(label or "-") for label in block.rows[row]] or [Cell("")]


def ratio_cell(spot: LayoutCell, metric: str) -> Cell:
    """Show a ratio as `0.97 ±0.02`, the margin rounded up, with a mark where the builds were not made alike."""
    ratio, margin = spot.ratios.get(metric), spot.margins.get(metric)
    if ratio is None:
        return Cell("no base", "missing") if metric in spot.values and not spot.status else cell(spot, None)
    reach = ""
    if margin is not None:
        reach = f" ±{math.ceil(100 * margin) / 100:.2f}" if margin < _WIDEST_MARGIN else f" ±>{_WIDEST_MARGIN:.0f}"
    return cell(spot, f"{units.ratio(ratio)}{reach}{MARK if spot.caveat else ''}", ratio)


def ratio_notes(block: Block, metrics: Sequence[str]) -> tuple[str, ...]:
    """Explain the marks of a table."""
    spots = list(block.spots.values())
    reasons = dict.fromkeys(spot.caveat for spot in spots if spot.caveat and spot.ratios)
    margin = any(name in spot.margins for spot in spots for name in metrics)
    return (*([_MARGIN] if margin else []), *(f"{MARK} {reason}" for reason in reasons))


def relative_tables(block: Block) -> list[Table]:
    """Make a column for each arm but the base, the step last: `Relative to: …`."""
    arms = other_columns(block)
    rows = [(index, block.row(index)) for index in range(len(block.rows))]
    return [relative_table(block, rows, arms)] if arms and rows else []


def relative_table(block: Block, rows: Sequence[tuple[int, str]], arms: Sequence[int], part: str = "") -> Table:
    """Put long names of builds into a legend above the columns; where the base is a row they keep them."""
    metric = block.metrics[0] if block.metrics else "qps"
    heads, names = legend([block.column(index) for index in arms], _LEGEND_ROOM if block.base_column is None else 0)
    lines = (
        (*(ratio_cell(block.spot(row, column), metric)._replace(value=None) for column in arms), Cell(name))
        for row, name in rows
    )
    notes = (*block.notes, *ratio_notes(block, [metric]))
    before = (f"Relative to: {block.base}", *names)
    return block.table(columns(heads, [" ".join(block.row_axes) or STEP]), lines, part, before=before, notes=notes)


def other_columns(block: Block) -> list[int]:
    return [index for index in range(len(block.columns)) if index != block.base_column]


def error_tables(block: Block) -> list[Table]:
    """List the steps whose clients had to try again, or to connect again."""
    tables = []
    for metric in _ERRORS:
        rows = [row for row in range(len(block.rows)) if any(spot.values.get(metric) for spot in block.line(row))]
        spots = {
            (index, column): block.spots[row, column]
            for index, row in enumerate(rows)
            for column in range(len(block.columns))
            if (row, column) in block.spots
        }
        if rows:
            names = tuple(block.rows[row] for row in rows)
            tables += figure_tables(replace(block, metrics=(metric,), rows=names, spots=spots))
    return tables


def recovery_tables(block: Block) -> list[Table]:
    names = {name for spot in block.spots.values() for name in spot.values}
    return figure_tables(replace(block, metrics=tuple(name for name in _RECOVERY if name in names), called=_RECOVERY))


def probe_tables(block: Block) -> list[Table]:
    """Show the seconds of each probe: a row for each configuration, a column for each step that it ran beside."""
    tables = []
    for probe in block.metrics:
        name = block.call(probe)
        rows = (
            (Cell(block.row(row)), *(fixed(spot, spot.values.get(probe), 3) for spot in block.line(row)))
            for row in range(len(block.rows))
        )
        heads = columns(block.heads(name), ["config"], last=False)
        part = name if len(block.metrics) > 1 else ""
        tables.append(block.table(heads, rows, part, notes=(*block.notes, f"{name}, in seconds")))
    return tables


def base_row(names: Iterable[str], base: str | None) -> str | None:
    """Choose the row that others are compared with: the base that the table names, else the first with figures.

    A row of one axis is called by its label alone, one of several without commas.
    """
    rows = list(names)
    if base is not None:
        for name in rows:
            if name == base.replace(", ", " ") or base.endswith(f"={name}"):
                return name
    return next(iter(rows), None)


FIGURES = Layout("figures", figure_tables, (ARMS,), (), (STEP,), own_metrics=True)
RELATIVE = Layout("relative QPS", relative_tables, (STEP,), (BASE,), (ARMS,), ("qps",), compares=True, own_metrics=True)
RECOVERY = Layout("crash and recovery", recovery_tables, metrics=(*_RECOVERY,))
ERRORS = Layout("errors and reconnects", error_tables, (STEP, RANGE), (ARMS,), (), _ERRORS)
# a table that names no probe is of the published one
PROBES = Layout("probes", probe_tables, (ARMS,), (STEP,), (), ("min_id_probe_seconds",), own_metrics=True)
