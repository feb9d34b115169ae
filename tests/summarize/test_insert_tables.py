"""What a report of the insert benchmark shows: its ratios are those of every other table."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.model.plan import Axis
from stepgrid.summarize import report_tables
from stepgrid.summarize.report_tables import TableInputs
from tests.summarize import made


def test_ratios_to_the_base_are_geometric_means_over_the_loads() -> None:
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
        each
        for each in report_tables.tables(said, TableInputs(axes, runs, {"server": "my"}))[0]
        if each.block.startswith("relative to")
    )
    assert [[cell.text for cell in row] for row in table.rows] == [["my", "1.00"], ["pg", "1.65"]]


def test_arms_that_the_base_says_nothing_of_are_tables_of_their_own() -> None:
    """As published: a page for so many clients, in which the others are held to the base, wherever its row is."""
    rates = {("pg", "1"): 300.0, ("my", "1"): 100.0, ("pg", "2"): 500.0, ("my", "2"): 400.0}
    runs = [
        replace(
            made.run(f"{server}{clients}", 0, rate),
            labels={"server": server, "clients": clients},
            kind="insert_benchmark",
            metrics={"inserts_per_s": rate, "target_inserts_per_s": 400.0 * int(clients), "qps": rate},
        )
        for (server, clients), rate in rates.items()
    ]
    axes = (Axis("server", ("pg", "my")), Axis("clients", ("1", "2")))
    found = report_tables.tables([{"layout": "insert_benchmark"}], TableInputs(axes, runs, {"server": "my"}))[0]
    shown = {table.block: [[cell.text for cell in row] for row in table.rows] for table in found}
    assert shown["clients=1, relative to my"] == [["pg", "3.00"], ["my", "1.00"]]
    assert shown["clients=2, relative to my"] == [["pg", "1.25"], ["my", "1.00"]]
    assert shown["clients=1, insert rate against target"] == [["target", "400"], ["pg", "300*"], ["my", "100*"]]
    assert shown["clients=2, throughput"] == [["pg", "500*"], ["my", "400*"]]
