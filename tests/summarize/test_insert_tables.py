"""What a report of the insert benchmark shows: its ratios are those of every other table."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.model.plan import Axis
from stepgrid.summarize.data.table_inputs import Extras
from stepgrid.summarize.tables import report_tables
from tests.summarize import made


def test_ratios_to_the_first_row_are_geometric_means_over_the_loads() -> None:
    """Medians would say 300 / 200: 1.50."""
    rates = {"my": (100.0, 200.0, 400.0), "pg": (300.0, 150.0, 800.0)}
    runs = [
        replace(
            made.run(server, load, 0.0),
            labels={"server": server},
            kind="insert_benchmark",
            metrics={"inserts_per_s": rate},
        )
        for server, found in rates.items()
        for load, rate in enumerate(found)
    ]
    axes = (Axis("server", ("my", "pg")),)
    said = [{"layout": "insert_benchmark"}]
    (table,) = (
        each for each in report_tables.tables(said, axes, runs, {}, Extras())[0] if each.block.startswith("relative to")
    )
    assert [[cell.text for cell in row] for row in table.rows] == [["my", "1.00"], ["pg", "1.65"]]
