"""`--layout NAME`: its tables of blocks that have figures, lack them, or are empty."""

from __future__ import annotations

import pytest

from stepgrid.model.table import Table
from stepgrid.plugins.layout import Block, Layout, LayoutCell
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import LAYOUTS
from stepgrid_conformance.support import refuse

LACKING = ("failed", "unsupported", "missing", "elsewhere", "same as a", "")


def make_block(*spots: LayoutCell) -> Block:
    """A row for each, and a column more that nobody measured."""
    rows = tuple((f"row {index}",) for index in range(len(spots)))
    at = {(row, 0): spot for row, spot in enumerate(spots)}
    return Block("a title", rows, (("a",), ("b",)), at, ("axis",), ("build",), base="a", base_column=0)


def tables(name: str, block: Block) -> list[Table]:
    return list(LAYOUTS.get(name).tables(block))


def test_it_is_a_layout_of_metrics_that_there_are(layout: str) -> None:
    plugin = LAYOUTS.get(layout)
    assert isinstance(plugin, Layout), "it lacks a part of the protocol Layout (stepgrid.plugins.layout)"
    assert plugin.title, "`title` is empty"
    refuse("metrics that there are not", [name for name in plugin.metrics if name not in METRICS])


@pytest.mark.parametrize("figures", [(), (1.0,), (1.0, 2.5e9, 0.0)], ids=["none", "one", "three"])
def test_each_row_has_a_cell_for_each_column(layout: str, figures: tuple[float, ...]) -> None:
    names = LAYOUTS.get(layout).metrics or ("qps",)
    spots = [LayoutCell(dict.fromkeys(names, value), ratios=dict.fromkeys(names, value)) for value in figures]
    for table in tables(layout, make_block(*spots)):
        uneven = [at for at, row in enumerate(table.rows, 1) if len(row) != len(table.columns)]
        refuse(f"{table.title}: rows that have not {len(table.columns)} cells", uneven)


@pytest.mark.parametrize("status", LACKING)
def test_what_is_missing_is_no_number(layout: str, status: str) -> None:
    for table in tables(layout, make_block(LayoutCell(status=status))):
        numbers = [cell.text for row in table.rows for cell in row if cell.value is not None]
        refuse(f"{table.title}: numbers where nothing was measured", numbers)


def test_it_is_the_same_each_time(layout: str) -> None:
    block = make_block(LayoutCell({"qps": 1.0}, ratios={"qps": 1.0}), LayoutCell(status="failed"))
    assert tables(layout, block) == tables(layout, block), "two calls with the same figures give different tables"
