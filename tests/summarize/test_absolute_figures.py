"""Table of absolute figures of a step: columns that tell something, and no others."""

from types import SimpleNamespace
from typing import cast

from stepgrid.model.plan import PlannedAxis
from stepgrid.summarize.absolute_figures import table
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report
from tests.summarize import made

REPORT = SimpleNamespace(
    setup=SimpleNamespace(loads=(1, 1)),
    data=SimpleNamespace(series=SimpleNamespace(steadiness={}), units={"get_qps": "operations/s"}),
)


def last_row(*points: Point) -> dict[str, str]:
    """Return the last row by column."""
    section = StepPoints("read", (PlannedAxis("arm", ("a", "b")),), points)
    figures = table.__wrapped__(cast(Report, REPORT), section)
    return {column.head: cell.text for column, cell in zip(figures.columns, figures.rows[-1], strict=True)}


def test_the_cpu_of_client_and_server_stand_beside_that_of_both() -> None:
    row = last_row(
        made.point(made.run("a", 0, 9.0, cpu_us_per_op=27.5, client_cpu_us_per_op=7, server_cpu_us_per_op=20.5))
    )
    assert (row["CPU/op (µs)"], row["client CPU (µs)"], row["server CPU (µs)"]) == ("27.5", "7.00", "20.5")
    assert "client CPU (µs)" not in last_row(made.point(made.run("a", 0, 9.0, cpu_us_per_op=27.5)))


def test_a_metric_that_a_command_declares_stands_in_the_table_of_its_step() -> None:
    assert last_row(made.point(made.run("a", 0, 9.0, get_qps=4321.0)))["get_qps (operations/s)"] == "4,321"
