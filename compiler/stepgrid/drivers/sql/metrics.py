"""The metrics of steps of kind sql."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric, MetricSet

STATEMENTS = "the statements of the step, without connecting"

SQL = (
    Metric("sql_seconds", "s", "lower", "Time of all statements of the step, as their client saw it.", STATEMENTS),
    Metric("sql_slowest_seconds", "s", "lower", "Time of the statement that took longest.", STATEMENTS),
    Metric("sql_statements", "statements", None, "Statements that were run.", STATEMENTS),
    Metric("sql_rows", "rows", None, "Rows that the statements answered with, all together.", STATEMENTS),
)

OWN = MetricSet({"Statements": SQL})
