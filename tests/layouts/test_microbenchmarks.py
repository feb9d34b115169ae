"""The tables of the microbenchmarks: by group, before and after the writes, loads, errors, CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stepgrid.model.table import Table
from stepgrid.plugins.layout import Block, LayoutCell
from stepgrid.summarize.formats import text_table as text
from stepgrid_databases.layouts import microbenchmarks
from stepgrid_databases.layouts.arms import cost_tables
from stepgrid_databases.layouts.figures import error_tables
from tests.layouts.made import subjects, texts

Figures = Mapping[str, float] | str
ARMS = ("mysql", "myrocks")
STEPS = (
    ("point-query.pre", ""), ("random-points.pre", "10"), ("random-points.pre", "100"), ("update-one", ""),
    ("read-write", "100"), ("read-only", "10"), ("read-only", "10000"), ("read-only-count", ""), ("point-query", ""),
    ("random-points", "10"), ("random-points", "100"), ("points-covered-si.warm", ""), ("scan.warm", ""), ("scan", ""),
)  # fmt: skip


def block(rows: Sequence[tuple[str, str]], figures: Sequence[Sequence[Figures]], arms: Sequence[str] = ARMS) -> Block:
    """Of each row the figures of each arm; ratios are to the first."""
    spots = {}
    for row, line in enumerate(figures):
        for column, found in enumerate(line):
            spots[row, column] = (
                LayoutCell(status=found) if isinstance(found, str) else LayoutCell(found, ratios=_ratio(line, found))
            )
    return Block(
        "t", tuple(rows), tuple((arm,) for arm in arms), spots, ("step", "range"), ("server",), base="server=mysql",
        base_column=0,
    )  # fmt: skip


def _ratio(line: Sequence[Figures], found: Mapping[str, float]) -> Mapping[str, float]:
    base = line[0]
    return {} if isinstance(base, str) or "qps" not in found else {"qps": found["qps"] / base["qps"]}


def rates(rows: Sequence[tuple[str, str]], *second: float) -> Block:
    return block(rows, [[{"qps": 100.0}, {"qps": rate}] for rate in second])


def named(tables: Sequence[Table]) -> list[tuple[str, list[str]]]:
    return [(table.block, texts(table)) for table in tables]


def test_groups_with_the_names_of_published_tables() -> None:
    found = microbenchmarks.relative_tables(rates(STEPS, *range(101, 101 + len(STEPS))))
    assert named(found) == [
        (
            "point queries",
            [
                "1.09 point-query",
                "1.01 point-query.pre",
                "1.10 random-points_range=10",
                "1.02 random-points.pre_range=10",
                "1.11 random-points_range=100",
                "1.03 random-points.pre_range=100",
            ],
        ),
        ("range queries without aggregation", ["1.14 scan", "1.13 scan.warm"]),
        (
            "range queries with aggregation",
            ["1.08 read-only-count", "1.06 read-only_range=10", "1.07 read-only_range=10000"],
        ),
        ("writes", ["1.05 read-write", "1.04 update-one"]),
    ]
    assert found[0].before == ("Relative to: server=mysql", "col-1 : myrocks")


def test_a_name_that_says_no_group_is_among_others() -> None:
    steps = [("zipf", ""), ("mine", "10"), ("mine", "100"), ("range", "10"), ("rangescan", "")]
    assert named(microbenchmarks.relative_tables(rates(steps, 1.0, 2.0, 3.0, 4.0, 5.0))) == [
        ("range queries without aggregation", ["0.04 range", "0.05 rangescan"]),
        ("others", ["0.02 mine_range=10", "0.03 mine_range=100", "0.01 zipf"]),
    ]


def test_absolute_figures_with_the_rows_that_were_scanned() -> None:
    scanned = [{"qps": 3.4, "rows_per_s": 340000.0}, {"qps": 2.0, "rows_per_s": 200000.0}]
    made = block(
        [("scan", ""), ("delete", ""), ("insert", "")], [scanned, [{"qps": 12.6}, "failed"], [{"qps": 7.0}, {}]]
    )
    found = microbenchmarks.absolute_tables(made)
    assert named(found) == [
        ("range queries without aggregation", ["3 2 scan", "340000 200000 scan, rows/s"]),
        ("writes", ["13 failed delete", "7 - insert"]),
    ]
    assert [column.name for column in found[0].columns] == ["mysql", "myrocks", "step"]
    assert [table.notes for table in found] == [("scan: scans of a whole table per second",), ()]


def test_long_names_of_arms_stand_in_a_legend() -> None:
    arms = [f"a server of many words {number}" for number in range(3)]
    (found,) = microbenchmarks.absolute_tables(block([("insert", "")], [[{"qps": 1.0}] * 3], arms))
    assert found.before == tuple(f"col-{number} : {arm}" for number, arm in enumerate(arms, 1))


def test_after_the_writes_over_before_them() -> None:
    steps = [("scan.pre", ""), ("read-only.pre", "10"), ("scan", ""), ("read-only", "10"), ("insert", "")]
    made = block(
        steps,
        [[{"qps": 100.0}, {"qps": 100.0}], [{"qps": 50.0}, "failed"], [{"qps": 80.0}, {"qps": 110.0}],
         [{"qps": 60.0}, {"qps": 1.0}], [{"qps": 1.0}, {"qps": 1.0}]],
    )  # fmt: skip
    (found,) = microbenchmarks.before_after_tables(made)
    assert texts(found) == ["0.80 1.10 scan", "1.20 failed read-only"]
    assert microbenchmarks.before_after_tables(rates(STEPS[8:10], 1.0, 2.0)) == []


def test_a_load_and_the_sizes_behind_it() -> None:
    """What the load itself says of the sizes is not used: the server had not looked yet."""
    loaded = {"qps": 50000.0, "seconds": 2.0, "insert_seconds": 1.5, "index_seconds": 0.5, "data_bytes": 16384.0}
    settled = {"data_bytes": 5.0 * 2**20, "index_bytes": 2.0**20, "database_bytes": 150.0 * 2**20}
    spots = {
        (0, 0): LayoutCell(loaded), (0, 1): LayoutCell(settled), (0, 2): LayoutCell({"database_bytes": 200.0 * 2**20}),
        (1, 0): LayoutCell(status="failed"), (1, 1): LayoutCell(status="missing"), (1, 2): LayoutCell(status="missing"),
    }  # fmt: skip
    made = Block(
        "load and sizes", (("mysql",), ("myrocks",)), (("load",), ("settle",), ("insert",)), spots, ("server",)
    )
    (found,) = microbenchmarks.load_tables(made)
    assert text(found).splitlines()[:5] == [
        "load and sizes",
        "--------------",
        "  server   rows/s  load (s)  inserting (s)  indexing (s)     data  indexes    files  files, at the end",
        "  mysql    50,000         2           1.50         0.500    5 MiB    1 MiB  150 MiB            200 MiB",
        "  myrocks  failed    failed         failed        failed  missing  missing  missing            missing",
    ]


def test_a_load_alone_has_the_sizes_that_it_knows() -> None:
    spots = {(0, 0): LayoutCell({"insert_seconds": 1.0, "database_bytes": 2.0**20})}
    (found,) = microbenchmarks.load_tables(Block("t", (("mysql",),), (("load",),), spots, ("server",)))
    assert texts(found) == ["mysql - - 1 - - - 1 MiB 1 MiB"]


def test_only_steps_with_errors_are_named() -> None:
    made = block(
        [("insert", ""), ("read-write", "10"), ("scan", "")],
        [[{"ignored_errors": 0.0, "reconnects": 0.0}, {"ignored_errors": 0.0}],
         [{"ignored_errors": 3.0, "reconnects": 0.0}, {"ignored_errors": 0.0}], ["failed", {}]],
    )  # fmt: skip
    found = error_tables(replace(made, base=None, base_column=None))
    assert named(found) == [("ignored_errors, errors", ["read-write 10 3 0"])]


def test_the_cpu_of_server_and_client() -> None:
    both = {"server_cpu_us_per_op": 20.4, "client_cpu_us_per_op": 7.0}
    (found,) = microbenchmarks.cpu_tables(block([("point-query", ""), ("insert", "")], [[both, {}], ["failed", both]]))
    assert texts(found) == ["20.4 + 7 - point-query", "failed 20.4 + 7 insert"]
    assert found.rows[0][0].value == 27.4


def test_the_base_of_an_axis_other_than_the_build() -> None:
    """Its row is called by the label alone."""
    figures = {"maria": {"qps": 50.0}, "mysql": {"qps": 100.0}}
    made = replace(subjects(figures), base="server=mysql", row_axes=("server",))
    assert cost_tables(made)[1].before == ("--- relative to mysql",)


def test_the_ratio_of_rates_is_that_of_other_tables_and_not_of_rounded_rates() -> None:
    made = subjects({"a": {"qps": 49.6}, "b": {"qps": 50.4}})
    spots = {at: spot._replace(ratios={"qps": spot.values["qps"] / 49.6}) for at, spot in made.spots.items()}
    assert texts(cost_tables(made)[1]) == ["- - - - - 1.00 b"]
    assert texts(cost_tables(replace(made, spots=spots))[1]) == ["- - - - - 1.02 b"]
