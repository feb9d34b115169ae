"""What a report shows of probes without being asked."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.model.plan import Axis
from stepgrid.model.table import Table
from stepgrid.summarize.data.parquet_reader import Run
from stepgrid.summarize.data.table_inputs import Extras
from stepgrid.summarize.tables import report_tables
from tests.summarize import made

AXES = (Axis("gc", ("base", "sd8k")),)
COUNTED = {
    ("s-base", 0): {"min_trx.SKIPPED": 36144100.0, "min_trx.SEEKS": 1.0},
    ("s-sd8k", 0): {"min_trx.SKIPPED": 14.0, "min_trx.SEEKS": 1.0},
}


def run(gc: str, seconds: float | None) -> Run:
    probe = {} if seconds is None else {"min_trx": seconds}
    return replace(made.run(gc, 0, 100.0, **probe), labels={"gc": gc}, step="q100", kind="sql", place=(f"s-{gc}", 0))


def tables(runs: list[Run], extras: Extras) -> list[tuple[str, list[str]]]:
    found: list[Table] = report_tables.tables([], AXES, runs, {"gc": "base"}, extras)[0]
    return [(each.name, [" ".join(cell.text for cell in row) for row in each.rows]) for each in found]


def test_their_seconds_and_what_was_counted_around_them() -> None:
    extras = Extras(counters=COUNTED, probes=["min_trx", "other"])
    assert tables([run("base", 8.206), run("sd8k", 0.196)], extras) == [
        ("probe min_trx", ["base 8.206", "sd8k 0.196"]),
        ("most of what was counted around min_trx: q100", ["min_trx.SKIPPED 36144100 14", "min_trx.SEEKS 1 1"]),
        ("most of what was counted around min_trx: q100", ["0.000 min_trx.SKIPPED", "1.000 min_trx.SEEKS"]),
    ]


def test_a_probe_without_counters_has_its_seconds_and_a_plan_without_probes_nothing() -> None:
    runs = [run("base", 8.206), run("sd8k", None)]
    assert tables(runs, Extras(probes=["min_trx"])) == [("probe min_trx", ["base 8.206", "sd8k -"])]
    assert tables(runs, Extras()) == []
