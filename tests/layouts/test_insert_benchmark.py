"""Tables of the insert benchmark: what failed its rate is marked, grey, and counts for no colour."""

import pytest

from stepgrid.plugins.layout import Block, LayoutCell
from stepgrid.summarize.formats import FORMATS
from stepgrid_databases.layouts import insert_benchmark
from stepgrid_databases.layouts.insert_benchmark import Rate, coloured
from tests.cases import rows
from tests.layouts.made import texts

TARGET = insert_benchmark.TARGET
SPOTS = {
    (0, 0): LayoutCell({"inserts_per_s": 103093}),
    (1, 0): LayoutCell({"inserts_per_s": 81967, "tables_bytes": 3 * 2.0**30, "database_bytes": 2.0**32}),
    (2, 0): LayoutCell(status="failed"),
    (0, 1): LayoutCell({"inserts_per_s": 998, "qps": 5000, TARGET: 1000}),
    (1, 1): LayoutCell({"inserts_per_s": 800, "qps": 9000, TARGET: 1000, "data_bytes": 2.0**30, "index_bytes": 5.0}),
    (2, 1): LayoutCell(status="failed"),
    (3, 1): LayoutCell({"min_id_probe_seconds": 0.001}),
}
BLOCK = Block("t", (("rx56",), ("rx80",), ("pg",), ("probed",)), (("l.i0",), ("q1000",)), SPOTS)


def tables(block):
    return {table.block: table for table in insert_benchmark.tables(block)}


def test_throughput_relative_and_the_rate_under_its_target():
    """A row that has a probe alone has no place here; one that failed has."""
    found = tables(BLOCK)
    throughput, rates = found["throughput"], found["insert rate against target"]
    assert texts(throughput) == ["rx56 103093 5000", "rx80 81967 9000*", "pg failed failed"]
    assert [cell.kind for cell in throughput.rows[1]] == ["", "worst", "failed rate"]
    assert texts(found["relative to rx56"]) == ["rx56 1.00 1.00", "rx80 0.80 1.80", "pg failed failed"]
    assert texts(rates) == ["target 1000", "rx56 998", "rx80 800*", "pg failed"]
    assert [row[-1].kind for row in rates.rows] == ["", "", "worst", "failed"]
    said = "*: failed its rate: less than 95 % of the rows/s that were asked of all clients"
    assert said in throughput.notes
    assert said in rates.notes


def test_costs_relative_to_the_first_arm_are_of_the_figures_as_they_are_shown():
    rates = ("device_reads_per_s", "device_writes_per_s", "context_switches_per_s")
    values = [(0.0, 0.01, 3.0), (0.2, 0.04, 4.4), (7.0, 2.0, 0.0)]
    spots = {
        (at, 0): LayoutCell({"inserts_per_s": 10.0, **dict(zip(rates, each, strict=True))})
        for at, each in enumerate(values)
    }
    found = tables(Block("t", (("a",), ("b",), ("c",)), (("l.i0",),), spots))["l.i0, metrics relative to a"]
    at = [[column.name for column in found.columns].index(name) for name in ("rps", "wps", "csps", "tag")]
    assert [[row[index].text for index in at] for row in found.rows] == [
        ["1", "1", "1.33", "b"],
        ["inf", "inf", "0.00", "c"],
    ]


@pytest.mark.parametrize(("form", "said"), rows(__file__, "each_format_says_that_a_rate_failed"))
def test_each_format_says_that_a_rate_failed(form, said):
    """By its mark, or as data."""
    assert said in FORMATS[form](tables(BLOCK)["throughput"])


def test_what_fails_its_rate_counts_for_no_colour():
    column = [Rate(100), Rate(60), Rate(90), Rate(500, False), Rate(None)]
    assert coloured(column) == ["best", "worst", "best", "failed rate", ""]
    assert coloured([Rate(9, False), Rate(None)]) == ["failed rate", ""]
