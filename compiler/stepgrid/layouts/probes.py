"""Seconds of a probe: a row for each configuration, a column for each step that it ran before or after."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, STEP, Block, Layout, fixed


def tables(block: Block) -> list[Table]:
    return [_table(replace(block, metrics=(probe,)), len(block.metrics) > 1) for probe in block.metrics]


def _table(block: Block, several: bool) -> Table:
    probe = block.metrics[0]
    called = block.call(probe)
    rows = (
        (Cell(block.row(row)), *(fixed(spot, spot.values.get(probe), 3) for spot in block.line(row)))
        for row in range(len(block.rows))
    )
    heads = columns(block.heads(called), ["config"], last=False)
    return block.table(heads, rows, called if several else "", notes=(*block.notes, f"{called}, in seconds"))


PUBLISHED = "min_id_probe_seconds"  # of a table that names no probe
LAYOUT = Layout("probes", tables, (ARMS,), (STEP,), (), (PUBLISHED,), own_metrics=True)
